import { useEffect, useRef, useState } from 'preact/hooks';
import { Button } from '../../../parts/button.js';
import { Field } from '../../../parts/field.js';
import { manyText } from '../../../text/add-many.js';
import { shellText } from '../../../text/shell.js';
import { readAddress, userOf, withLogin } from './address.js';
import styles from './many.module.css';
import type { Address } from './plan.js';

export type Mend = (mended: readonly (readonly [source: string, url: string])[]) => void;

type FixProps = {
  /** What is wrong of a line: a stream, or both. */
  readonly addresses: readonly [Address, ...Address[]];
  /** All that the login was refused of, these among them; empty: something else is wrong. */
  readonly refused: readonly Address[];
  readonly onMend: Mend;
  readonly onClose: () => void;
};

const LoginFix = ({ addresses, refused, onMend, onClose }: FixProps) => {
  const [user, setUser] = useState(userOf(addresses[0].asked.url));
  const [password, setPassword] = useState('');
  const first = useRef<HTMLInputElement>(null);
  useEffect(() => first.current?.focus(), []);
  const apply = (wrong: readonly Address[]): void =>
    onMend(wrong.map(({ source, asked }) => [source, withLogin(asked.url, user, password)]));
  return (
    <form
      class={styles.fix}
      onSubmit={(event) => {
        event.preventDefault();
        apply(addresses);
      }}
    >
      <Field label={manyText('user')}>
        {(given) => (
          <input
            {...given}
            value={user}
            autocomplete="off"
            autocapitalize="none"
            onInput={(event) => setUser(event.currentTarget.value)}
          />
        )}
      </Field>
      <Field label={manyText('password')}>
        {(given) => (
          <input
            {...given}
            ref={first}
            type="password"
            autocomplete="off"
            value={password}
            onInput={(event) => setPassword(event.currentTarget.value)}
          />
        )}
      </Field>
      <Button type="submit" kind="primary">
        {manyText('apply')}
      </Button>
      {refused.length > addresses.length ? (
        <Button onClick={() => apply(refused)}>{manyText('applyAll', { count: refused.length })}</Button>
      ) : null}
      <Button kind="quiet" onClick={onClose}>
        {shellText('cancel')}
      </Button>
    </form>
  );
};

/** Host and path; who is named in the address stays, and isn't shown. */
const AddressFix = ({ addresses: [{ source, asked }], onMend, onClose }: FixProps) => {
  const address = readAddress(asked.url);
  const login = address === null || address.login === '' ? '' : `${address.login}@`;
  const [text, setText] = useState(address === null ? asked.url : `${address.host}${address.path}`);
  return (
    <form
      class={styles.fix}
      onSubmit={(event) => {
        event.preventDefault();
        const isWhole = /^[a-z]+:\/\//i.test(text);
        onMend([[source, isWhole ? text.trim() : `${address?.scheme ?? 'rtsp'}://${login}${text.trim()}`]]);
      }}
    >
      <Field label={manyText('address')}>
        {(given) => (
          <input
            {...given}
            value={text}
            autocomplete="off"
            autocapitalize="none"
            spellcheck={false}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        )}
      </Field>
      <Button type="submit" kind="primary">
        {manyText('apply')}
      </Button>
      <Button kind="quiet" onClick={onClose}>
        {shellText('cancel')}
      </Button>
    </form>
  );
};

/** Mends a line where it stands: the login where it was refused, the address otherwise. */
export const FixForm = (props: FixProps) =>
  props.refused.length > 0 ? <LoginFix {...props} /> : <AddressFix {...props} />;
