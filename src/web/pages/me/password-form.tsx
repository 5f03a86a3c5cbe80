import { useState } from 'preact/hooks';
import { Problem } from '../../data/problem.js';
import { changePassword, me } from '../../data/session.js';
import { Button } from '../../parts/button.js';
import { Field } from '../../parts/field.js';
import { ProblemBox } from '../../parts/problem-box.js';
import { useAction } from '../../parts/use-action.js';
import { meText } from '../../text/me.js';
import styles from './me.module.css';

const MIN_CHARACTERS = 8;

const PasswordField = (props: {
  readonly label: string;
  readonly name: string;
  readonly value: string;
  readonly isNew: boolean;
  readonly hint?: string;
  readonly fault?: string | undefined;
  readonly onInput: (value: string) => void;
}) => (
  <Field
    label={props.label}
    {...(props.hint === undefined ? {} : { hint: props.hint })}
    {...(props.fault === undefined ? {} : { fault: props.fault })}
  >
    {(given) => (
      <input
        {...given}
        type="password"
        name={props.name}
        value={props.value}
        autocomplete={props.isNew ? 'new-password' : 'current-password'}
        required
        onInput={(event) => props.onInput(event.currentTarget.value)}
      />
    )}
  </Field>
);

/** Another password; `known`: the old one, where it was typed a moment ago. */
export const PasswordForm = ({
  known,
  action,
  onDone,
}: {
  readonly known: string | null;
  readonly action: string;
  readonly onDone: () => void;
}) => {
  const [old, setOld] = useState('');
  const [wanted, setWanted] = useState('');
  const [again, setAgain] = useState('');
  const [isChecked, setIsChecked] = useState(false);
  const change = useAction(async () => {
    await changePassword(known ?? old, wanted);
    setOld('');
    setWanted('');
    setAgain('');
    setIsChecked(false);
    onDone();
  });
  const isShort = isChecked && wanted.length < MIN_CHARACTERS;
  const isDifferent = isChecked && !isShort && again !== wanted;
  const isWrong = change.problem instanceof Problem && change.problem.code === 'wrong_password';
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    setIsChecked(true);
    if (wanted.length >= MIN_CHARACTERS && wanted === again) void change.run();
  };
  return (
    <form class={styles.form} onSubmit={submit}>
      {/* Password managers want to know whose it is. */}
      <input
        class="visually-hidden"
        name="username"
        autocomplete="username"
        value={me.value?.username ?? ''}
        tabIndex={-1}
        aria-hidden
        readOnly
      />
      {known === null ? (
        <PasswordField
          {...{ label: meText('old'), name: 'old', value: old, isNew: false, onInput: setOld }}
          fault={isWrong ? meText('wrongOld') : undefined}
        />
      ) : null}
      <PasswordField
        {...{ label: meText('new'), name: 'new', value: wanted, isNew: true, onInput: setWanted }}
        hint={meText('rule')}
        fault={isShort ? meText('tooShort') : undefined}
      />
      <PasswordField
        {...{ label: meText('again'), name: 'again', value: again, isNew: true, onInput: setAgain }}
        fault={isDifferent ? meText('different') : undefined}
      />
      {change.problem === null || isWrong ? null : (
        <ProblemBox what={meText('change')} problem={change.problem} />
      )}
      <p>
        <Button type="submit" kind="primary" isDisabled={change.isBusy}>
          {action}
        </Button>
      </p>
    </form>
  );
};
