import { Field } from '../../../parts/field.js';
import { editText, onvifText } from '../../../text/edit-camera.js';
import type { Settings } from './form.js';
import { Conflict, Section } from './setting-fields.js';
import type { Edit } from './use-edit.js';

type Onvif = Settings['onvif'];
type OnvifName = keyof Onvif;

const hints: { readonly [Name in OnvifName]: string } = {
  address: onvifText('addressHint'),
  profile: onvifText('profileHint'),
  username: onvifText('usernameHint'),
  password: onvifText('passwordHint'),
};

/** Where a camera is asked by ONVIF. What is empty isn't sent: to the service that says "nothing of its own". */
export const OnvifFields = ({ edit }: { readonly edit: Edit }) => {
  const onvif = edit.form?.draft.onvif ?? {};
  const set = (name: OnvifName, value: string): void => {
    const { [name]: _, ...others } = onvif;
    edit.set({ onvif: value === '' ? others : { ...others, [name]: value } });
  };
  return (
    <Section title={editText('onvif')}>
      {(Object.keys(hints) as OnvifName[]).map((name) => {
        const fault = edit.faults.get(`onvif.${name}`);
        return (
          <Field
            key={name}
            label={onvifText(name)}
            hint={hints[name]}
            {...(fault === undefined ? {} : { fault })}
          >
            {(given) => {
              const typed = {
                ...given,
                value: onvif[name] ?? '',
                onInput: (event: { readonly currentTarget: HTMLInputElement }) =>
                  set(name, event.currentTarget.value),
              };
              return name === 'password' ? (
                <input {...typed} type="password" autocomplete="new-password" />
              ) : (
                <input {...typed} autocomplete="off" autocapitalize="none" spellcheck={false} />
              );
            }}
          </Field>
        );
      })}
      <Conflict edit={edit} name="onvif" />
    </Section>
  );
};
