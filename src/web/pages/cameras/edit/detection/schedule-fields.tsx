import { siteZoneName } from '../../../../data/time.js';
import { Button } from '../../../../parts/button.js';
import { Field } from '../../../../parts/field.js';
import { dayText, detectionText } from '../../../../text/detection.js';
import styles from './detection.module.css';
import { endOf, type Hours, MAX_HOURS, newHours, shownEnd, WEEK, withDay } from './schedule.js';

type Props = {
  readonly schedule: readonly Hours[];
  readonly faultOf: (name: string) => string | undefined;
  readonly onChange: (schedule: Hours[]) => void;
};

const Time = ({
  label,
  fault,
  value,
  onWrite,
}: {
  readonly label: string;
  readonly fault: string | undefined;
  readonly value: string;
  readonly onWrite: (text: string) => void;
}) => (
  <Field label={label} {...(fault === undefined ? {} : { fault })}>
    {(given) => (
      <input
        {...given}
        type="time"
        value={value}
        onInput={({ currentTarget }) => onWrite(currentTarget.value)}
      />
    )}
  </Field>
);

/** When objects are looked for, by the clocks of the site, wherever this page is. */
export const ScheduleFields = ({ schedule, faultOf, onChange }: Props) => {
  const change = (changed: number, hours: Hours): void =>
    onChange(schedule.map((each, nth) => (nth === changed ? hours : each)));
  const all = faultOf('schedule');
  return (
    <div class={styles.zones}>
      <div class={styles.bar}>
        <strong>{detectionText('schedule')}</strong>
        {schedule.length < MAX_HOURS ? (
          <Button icon="plus" onClick={() => onChange([...schedule, newHours()])}>
            {detectionText('addHours')}
          </Button>
        ) : null}
      </div>
      <p class={styles.hint}>
        {schedule.length === 0
          ? detectionText('noSchedule')
          : detectionText('scheduleHint', { zone: siteZoneName.value })}
      </p>
      {all === undefined ? null : <p class={styles.fault}>{all}</p>}
      {schedule.map((hours, nth) => {
        const noDays = faultOf(`schedule[${nth}].days`);
        return (
          // Hours have no names: what they are is where they stand.
          <fieldset key={String(nth)} class={styles.hours}>
            <legend class="visually-hidden">{detectionText('hours', { nth: nth + 1 })}</legend>
            <div class={styles.week}>
              <div class={styles.days}>
                {WEEK.map((day) => (
                  <Button
                    key={day}
                    isPressed={hours.days.includes(day)}
                    onClick={() => change(nth, withDay(hours, day))}
                  >
                    {dayText(day)}
                  </Button>
                ))}
              </div>
              {noDays === undefined ? null : <p class={styles.fault}>{noDays}</p>}
            </div>
            <Time
              label={detectionText('hoursFrom')}
              fault={faultOf(`schedule[${nth}].from`)}
              value={hours.from}
              onWrite={(from) => change(nth, { ...hours, from })}
            />
            <Time
              label={detectionText('hoursTo')}
              fault={faultOf(`schedule[${nth}].to`)}
              value={shownEnd(hours.to)}
              onWrite={(to) => change(nth, { ...hours, to: endOf(to) })}
            />
            <Button
              icon="remove"
              kind="quiet"
              label={detectionText('removeHours', { nth: nth + 1 })}
              onClick={() => onChange(schedule.filter((_, each) => each !== nth))}
            />
          </fieldset>
        );
      })}
    </div>
  );
};
