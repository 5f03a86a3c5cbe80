import type { ComponentChildren } from 'preact';
import { Button } from '../../../parts/button.js';
import { Field } from '../../../parts/field.js';
import { editText } from '../../../text/edit-camera.js';
import styles from './edit.module.css';
import type { SettingName, Settings } from './form.js';
import type { Edit } from './use-edit.js';

type OfType<Type> = { [Name in SettingName]: Settings[Name] extends Type ? Name : never }[SettingName];
type ChoiceName = 'transport' | 'folder_id' | 'record_mode';
type TextName = Exclude<OfType<string>, ChoiceName>;
type NumberName = OfType<number>;
type FlagName = OfType<boolean>;
type Props<Name> = { readonly edit: Edit; readonly name: Name; readonly hint?: string };

/** Of what has more in it than can be told in a line. */
const isDetection = (value: unknown): value is Settings['detection'] =>
  typeof value === 'object' && value !== null && ('zones' in value || 'schedule' in value);

const shownValue = (value: unknown): string => {
  if (typeof value === 'boolean') return editText(value ? 'yes' : 'no');
  if (isDetection(value)) return editText('otherDetection', { count: value.zones?.length ?? 0 });
  if (Array.isArray(value)) return value.join(', ');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
};

/** That somebody else wants it otherwise, and taking that. */
export const Conflict = ({ edit, name }: { readonly edit: Edit; readonly name: SettingName }) =>
  edit.form?.conflicts.has(name) === true ? (
    <p class={styles.conflict}>
      {editText('conflict', { value: shownValue(edit.form.base[name]) })}{' '}
      <Button kind="quiet" onClick={() => edit.takeTheirs(name)}>
        {editText('takeTheirs')}
      </Button>
    </p>
  ) : null;

const told = (edit: Edit, name: SettingName, hint: string | undefined): { hint?: string; fault?: string } => {
  const fault = edit.faults.get(name);
  return { ...(hint === undefined ? {} : { hint }), ...(fault === undefined ? {} : { fault }) };
};

export const TextSetting = ({ edit, name, hint }: Props<TextName>) => (
  <div>
    <Field label={editText(name)} {...told(edit, name, hint)}>
      {(given) => (
        <input
          {...given}
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
          value={edit.form?.draft[name] ?? ''}
          onInput={(event) => edit.set({ [name]: event.currentTarget.value })}
        />
      )}
    </Field>
    <Conflict edit={edit} name={name} />
  </div>
);

export const LongTextSetting = ({ edit, name, hint }: Props<TextName>) => (
  <div>
    <Field label={editText(name)} {...told(edit, name, hint)}>
      {(given) => (
        <textarea
          {...given}
          rows={2}
          value={edit.form?.draft[name] ?? ''}
          onInput={(event) => edit.set({ [name]: event.currentTarget.value })}
        />
      )}
    </Field>
    <Conflict edit={edit} name={name} />
  </div>
);

export const NumberSetting = ({ edit, name, hint }: Props<NumberName>) => (
  <div>
    <Field label={editText(name)} {...told(edit, name, hint)}>
      {(given) => (
        <input
          {...given}
          type="number"
          inputMode="numeric"
          min={0}
          required
          value={edit.form?.draft[name] ?? 0}
          onInput={(event) => {
            const { valueAsNumber } = event.currentTarget;
            if (Number.isFinite(valueAsNumber)) edit.set({ [name]: Math.floor(valueAsNumber) });
          }}
        />
      )}
    </Field>
    <Conflict edit={edit} name={name} />
  </div>
);

export const FlagSetting = ({ edit, name, hint }: Props<FlagName>) => (
  <div>
    <label class={styles.flag}>
      <input
        type="checkbox"
        checked={edit.form?.draft[name] === true}
        onChange={(event) => edit.set({ [name]: event.currentTarget.checked })}
      />
      <span>
        {editText(name)}
        {hint === undefined ? null : <small>{hint}</small>}
      </span>
    </label>
    <Conflict edit={edit} name={name} />
  </div>
);

export const ChoiceSetting = ({
  edit,
  name,
  hint,
  options,
}: Props<ChoiceName> & {
  readonly options: readonly (readonly [value: string, label: string])[];
}) => (
  <div>
    <Field label={editText(name)} {...told(edit, name, hint)}>
      {(given) => (
        <select
          {...given}
          value={edit.form?.draft[name] ?? ''}
          onChange={(event) => edit.set({ [name]: event.currentTarget.value })}
        >
          {options.map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      )}
    </Field>
    <Conflict edit={edit} name={name} />
  </div>
);

/** Settings that belong together, under a title. */
export const Section = ({
  title,
  children,
}: {
  readonly title: string;
  readonly children: ComponentChildren;
}) => (
  <fieldset class={styles.section}>
    <legend>{title}</legend>
    {children}
  </fieldset>
);
