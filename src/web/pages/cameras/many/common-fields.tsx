import { folders } from '../../../data/cameras.js';
import type { NewCamera } from '../../../data/types.js';
import { Field } from '../../../parts/field.js';
import { manyText } from '../../../text/add-many.js';
import styles from './many.module.css';

/** What holds for all lines that say nothing else. */
export type CommonSettings = {
  readonly prefix: string;
  readonly user: string;
  readonly password: string;
  readonly folder_id: string;
  readonly record: boolean;
  readonly transport: 'tcp' | 'udp';
};

export const noSettings = (folderId: string): CommonSettings => ({
  ...{ prefix: '', user: '', password: '', folder_id: folderId, record: false, transport: 'tcp' },
});

export const settingsOf = ({ folder_id, record, transport }: CommonSettings): Partial<NewCamera> => ({
  ...(folder_id === '' ? {} : { folder_id }),
  ...(record ? { record } : {}),
  ...(transport === 'tcp' ? {} : { transport }),
});

export const CommonFields = ({
  value,
  onChange,
}: {
  readonly value: CommonSettings;
  readonly onChange: (value: CommonSettings) => void;
}) => {
  const text = (name: 'prefix' | 'user' | 'password') => (
    <Field label={manyText(name)}>
      {(given) => (
        <input
          {...given}
          {...(name === 'password' ? ({ type: 'password' } as const) : ({ type: 'text' } as const))}
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
          value={value[name]}
          onInput={(event) => onChange({ ...value, [name]: event.currentTarget.value })}
        />
      )}
    </Field>
  );
  return (
    <form onSubmit={(event) => event.preventDefault()}>
      <fieldset class={styles.common}>
        <legend>{manyText('forAll')}</legend>
        {text('user')}
        {text('password')}
        {text('prefix')}
        <Field label={manyText('folder')}>
          {(given) => (
            <select
              {...given}
              value={value.folder_id}
              onChange={(event) => onChange({ ...value, folder_id: event.currentTarget.value })}
            >
              <option value="">{manyText('noFolder')}</option>
              {folders.value.map(({ id, name }) => (
                <option key={id} value={id}>
                  {name}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Field label={manyText('transport')}>
          {(given) => (
            <select
              {...given}
              value={value.transport}
              onChange={(event) =>
                onChange({ ...value, transport: event.currentTarget.value === 'udp' ? 'udp' : 'tcp' })
              }
            >
              <option value="tcp">TCP</option>
              <option value="udp">UDP</option>
            </select>
          )}
        </Field>
        <label class={styles.check}>
          <input
            type="checkbox"
            checked={value.record}
            onChange={(event) => onChange({ ...value, record: event.currentTarget.checked })}
          />
          {manyText('record')}
        </label>
      </fieldset>
    </form>
  );
};
