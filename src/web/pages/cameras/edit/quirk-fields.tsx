import { Field } from '../../../parts/field.js';
import { editText, quirkText } from '../../../text/edit-camera.js';
import styles from './edit.module.css';
import type { Settings } from './form.js';
import { Conflict } from './setting-fields.js';
import type { Edit } from './use-edit.js';

type Quirks = Settings['quirks'];
type QuirkName = keyof Quirks;

/** What each can be; `satisfies` has the compiler look whether one is missing. */
const choices = {
  certificate: ['any', 'verify'],
  keepalive: ['auto', 'options', 'get_parameter', 'set_parameter', 'none'],
  teardown: ['always', 'never'],
  refused_transport: ['try_other', 'give_up'],
  silent_udp: ['switch_to_tcp', 'give_up'],
  packetization_mode_0: ['force_tcp', 'keep_transport'],
  interleaved_ids: ['from_reply', 'as_requested'],
  session_id: ['take_last', 'keep_first'],
} as const satisfies { [Name in Exclude<QuirkName, 'user_agent'>]-?: readonly NonNullable<Quirks[Name]>[] };

/** In what a camera is treated otherwise than others. */
export const QuirkFields = ({ edit }: { readonly edit: Edit }) => {
  const quirks = edit.form?.draft.quirks ?? {};
  const set = (name: QuirkName, value: string): void => {
    const { [name]: _, ...others } = quirks;
    edit.set({ quirks: (value === '' ? others : { ...others, [name]: value }) as Quirks });
  };
  const faultOf = (name: QuirkName): { fault?: string } => {
    const fault = edit.faults.get(`quirks.${name}`);
    return fault === undefined ? {} : { fault };
  };
  return (
    <details class={styles.details} open={Object.keys(quirks).length > 0}>
      <summary>{editText('advanced')}</summary>
      <p class={styles.hint}>{editText('advancedHint')}</p>
      <div class={styles.grid}>
        {(Object.keys(choices) as (keyof typeof choices)[]).map((name) => (
          <Field key={name} label={quirkText(name)} {...faultOf(name)}>
            {(given) => (
              <select
                {...given}
                value={quirks[name] ?? ''}
                onChange={(event) => set(name, event.currentTarget.value)}
              >
                <option value="">{editText('byDefault')}</option>
                {choices[name].map((value) => (
                  <option key={value} value={value}>
                    {quirkText(value)}
                  </option>
                ))}
              </select>
            )}
          </Field>
        ))}
        <Field label={quirkText('user_agent')} {...faultOf('user_agent')}>
          {(given) => (
            <input
              {...given}
              value={quirks.user_agent ?? ''}
              maxLength={128}
              onInput={(event) => set('user_agent', event.currentTarget.value)}
            />
          )}
        </Field>
      </div>
      <Conflict edit={edit} name="quirks" />
    </details>
  );
};
