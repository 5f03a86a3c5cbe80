import { Button } from '../../../../parts/button.js';
import { Field } from '../../../../parts/field.js';
import { detectionText } from '../../../../text/detection.js';
import { useAsWritten } from './as-written.js';
import styles from './detection.module.css';
import {
  fractionOf,
  MAX_NAME,
  mayGrow,
  mayShrink,
  percentOf,
  pointAt,
  withCorner,
  withoutCorner,
  withPoint,
  type Zone,
} from './zones.js';

type Props = {
  readonly zone: Zone;
  readonly fault: string | undefined;
  readonly onChange: (zone: Zone) => void;
  readonly onRemove: () => void;
};

const KINDS = ['include', 'exclude'] as const;

const Place = ({
  label,
  value,
  onWrite,
}: {
  readonly label: string;
  readonly value: number;
  readonly onWrite: (value: number) => void;
}) => {
  const written = useAsWritten(percentOf(value), (text) => {
    const at = fractionOf(text);
    if (at !== undefined) onWrite(at);
  });
  return <input type="number" min={0} max={100} step={0.1} aria-label={label} {...written} />;
};

/** The same zone in figures: for who sees no picture, or wants it exactly so. */
export const ZoneTable = ({ zone, fault, onChange, onRemove }: Props) => (
  <div class={styles.zone}>
    <Field label={detectionText('zoneName')} {...(fault === undefined ? {} : { fault })}>
      {(given) => (
        <input
          {...given}
          value={zone.name}
          maxLength={MAX_NAME}
          autocomplete="off"
          onInput={(event) => onChange({ ...zone, name: event.currentTarget.value })}
        />
      )}
    </Field>
    <Field label={detectionText('kind')} hint={detectionText(`${zone.kind}Hint`)}>
      {(given) => (
        <select
          {...given}
          value={zone.kind}
          onChange={({ currentTarget: { value } }) =>
            onChange({ ...zone, kind: KINDS.find((kind) => kind === value) ?? zone.kind })
          }
        >
          {KINDS.map((kind) => (
            <option key={kind} value={kind}>
              {detectionText(kind)}
            </option>
          ))}
        </select>
      )}
    </Field>
    <table class={styles.corners}>
      <caption>{detectionText('corners')}</caption>
      <thead>
        <tr>
          <th scope="col">{detectionText('corner')}</th>
          <th scope="col">{detectionText('fromLeft')}</th>
          <th scope="col">{detectionText('fromTop')}</th>
          <td />
        </tr>
      </thead>
      <tbody>
        {zone.points.map((point, nth) => (
          // Corners have no names: what is in a row is where it is.
          <tr key={String(nth)}>
            <th scope="row">{nth + 1}</th>
            {([0, 1] as const).map((axis) => (
              <td key={axis}>
                <Place
                  label={detectionText(axis === 0 ? 'cornerLeft' : 'cornerTop', { nth: nth + 1 })}
                  value={point[axis]}
                  onWrite={(at) =>
                    onChange(withPoint(zone, nth, axis === 0 ? pointAt(at, point[1]) : pointAt(point[0], at)))
                  }
                />
              </td>
            ))}
            <td>
              <Button
                icon="plus"
                kind="quiet"
                label={detectionText('addCorner', { nth: nth + 1 })}
                isDisabled={!mayGrow(zone)}
                onClick={() => onChange(withCorner(zone, nth))}
              />
              <Button
                icon="close"
                kind="quiet"
                label={detectionText('removeCorner', { nth: nth + 1 })}
                isDisabled={!mayShrink(zone)}
                onClick={() => onChange(withoutCorner(zone, nth))}
              />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
    <Button icon="remove" onClick={onRemove}>
      {detectionText('removeZone')}
    </Button>
  </div>
);
