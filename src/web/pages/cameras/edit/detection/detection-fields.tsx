import { useState } from 'preact/hooks';
import { Button } from '../../../../parts/button.js';
import { Field } from '../../../../parts/field.js';
import { detectionText, ruleFaultText } from '../../../../text/detection.js';
import { editText } from '../../../../text/edit-camera.js';
import { Conflict, FlagSetting, Section } from '../setting-fields.js';
import type { Edit } from '../use-edit.js';
import { useAsWritten } from './as-written.js';
import styles from './detection.module.css';
import { ScheduleFields } from './schedule-fields.js';
import { ZonePicture } from './zone-picture.js';
import { ZoneTable } from './zone-table.js';
import {
  type Detection,
  faultsOf,
  fractionOf,
  labelsOf,
  MAX_ZONES,
  newZone,
  percentOf,
  withRules,
  type Zone,
} from './zones.js';

type Rules = {
  readonly edit: Edit;
  readonly detection: Detection;
  readonly set: (changes: Partial<Detection>) => void;
  readonly faultOf: (name: string) => string | undefined;
};

const told = (hint: string, fault: string | undefined): { hint: string; fault?: string } =>
  fault === undefined ? { hint } : { hint, fault };

const Written = ({
  label,
  hint,
  fault,
  value,
  onWrite,
}: {
  readonly label: string;
  readonly hint: string;
  readonly fault: string | undefined;
  readonly value: string;
  readonly onWrite: (text: string) => void;
}) => {
  const written = useAsWritten(value, onWrite);
  return (
    <Field label={label} {...told(hint, fault)}>
      {(given) => <input {...given} autocomplete="off" spellcheck={false} {...written} />}
    </Field>
  );
};

const Limits = ({ detection, set, faultOf }: Rules) => (
  <>
    <Written
      label={detectionText('labels')}
      hint={detectionText('labelsHint')}
      fault={faultOf('labels')}
      value={(detection.labels ?? []).join(', ')}
      onWrite={(text) => set({ labels: labelsOf(text) })}
    />
    <Written
      label={detectionText('minScore')}
      hint={detectionText('minScoreHint')}
      fault={faultOf('min_score')}
      value={percentOf(detection.min_score)}
      onWrite={(text) => set({ min_score: fractionOf(text) })}
    />
    <Written
      label={detectionText('minSize')}
      hint={detectionText('minSizeHint')}
      fault={faultOf('min_size')}
      value={percentOf(detection.min_size)}
      onWrite={(text) => set({ min_size: fractionOf(text) })}
    />
  </>
);

const Zones = ({ edit, detection, set, faultOf }: Rules) => {
  const [wanted, setWanted] = useState(0);
  const zones = detection.zones ?? [];
  const chosen = Math.min(wanted, zones.length - 1);
  const zone = zones[chosen];
  // One that is switched off gives no picture.
  const pictured = edit.form?.base.disabled === true ? null : edit.id;
  const change = (next: Zone): void =>
    set({ zones: zones.map((each, nth) => (nth === chosen ? next : each)) });
  const add = (kind: Zone['kind']): void => {
    set({ zones: [...zones, newZone(zones, kind, (nth) => detectionText('newZone', { nth }))] });
    setWanted(zones.length);
  };
  return (
    <div class={styles.zones}>
      <div class={styles.bar}>
        <strong>{detectionText('zones')}</strong>
        {zones.map(({ name, kind }, nth) => (
          <Button
            // Names may be the same while they are written.
            key={String(nth)}
            icon={kind === 'include' ? 'ok' : 'fault'}
            isPressed={nth === chosen}
            title={detectionText(kind)}
            onClick={() => setWanted(nth)}
          >
            {name === '' ? detectionText('noName') : name}
          </Button>
        ))}
        {zones.length < MAX_ZONES ? (
          <>
            <Button icon="plus" onClick={() => add('include')}>
              {detectionText('addInclude')}
            </Button>
            <Button icon="plus" onClick={() => add('exclude')}>
              {detectionText('addExclude')}
            </Button>
          </>
        ) : null}
      </div>
      <p class={styles.hint}>{detectionText(zones.length === 0 ? 'noZones' : 'zonesHint')}</p>
      {zone === undefined ? null : (
        <div class={styles.split}>
          <ZonePicture cameraId={pictured} zones={zones} chosen={chosen} onChange={change} />
          <ZoneTable
            key={String(chosen)}
            zone={zone}
            fault={faultOf(`zones[${chosen}].name`) ?? faultOf('zones')}
            onChange={change}
            onRemove={() => set({ zones: zones.filter((_, nth) => nth !== chosen) })}
          />
        </div>
      )}
    </div>
  );
};

/** Whether things are looked for in its pictures, and which of them count. */
export const DetectionFields = ({ edit }: { readonly edit: Edit }) => {
  const draft = edit.form?.draft;
  if (draft === undefined) return null;
  const { detection } = draft;
  const faults = faultsOf(detection);
  const rules: Rules = {
    ...{ edit, detection },
    set: (changes) => edit.set({ detection: withRules(detection, changes) }),
    faultOf: (name) => {
      const fault = faults.get(`detection.${name}`);
      return fault === undefined ? edit.faults.get(`detection.${name}`) : ruleFaultText(fault);
    },
  };
  return (
    <Section title={detectionText('title')}>
      <FlagSetting edit={edit} name="detect" hint={editText('detectHint')} />
      {draft.detect || Object.keys(detection).length > 0 ? (
        <>
          <Limits {...rules} />
          <ScheduleFields
            schedule={detection.schedule ?? []}
            faultOf={rules.faultOf}
            onChange={(schedule) => rules.set({ schedule })}
          />
          <Zones {...rules} />
        </>
      ) : null}
      <Conflict edit={edit} name="detection" />
    </Section>
  );
};
