import { useEffect, useRef, useState } from 'preact/hooks';
import { Button } from '../../../parts/button.js';
import { Field } from '../../../parts/field.js';
import { manyText } from '../../../text/add-many.js';
import { shellText } from '../../../text/shell.js';
import { readAddress, userOf, withLogin } from './address.js';
import styles from './many.module.css';
import type { PlannedLine } from './plan.js';

export type Mend = (mended: readonly (readonly [source: string, url: string])[]) => void;

type FixProps = {
  readonly line: PlannedLine;
  /** Lines that the camera refused the login of, this one among them; empty: something else is wrong. */
  readonly refused: readonly PlannedLine[];
  readonly onMend: Mend;
  readonly onClose: () => void;
};

const LoginFix = ({ line, refused, onMend, onClose }: FixProps) => {
  const [user, setUser] = useState(userOf(line.item.camera.url));
  const [password, setPassword] = useState('');
  const first = useRef<HTMLInputElement>(null);
  useEffect(() => first.current?.focus(), []);
  const apply = (lines: readonly PlannedLine[]): void =>
    onMend(lines.map(({ item }) => [item.source, withLogin(item.camera.url, user, password)]));
  return (
    <form
      class={styles.fix}
      onSubmit={(event) => {
        event.preventDefault();
        apply([line]);
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
      {refused.length > 1 ? (
        <Button onClick={() => apply(refused)}>{manyText('applyAll', { count: refused.length })}</Button>
      ) : null}
      <Button kind="quiet" onClick={onClose}>
        {shellText('cancel')}
      </Button>
    </form>
  );
};

/** Host and path; who is named in the address stays, and isn't shown. */
const AddressFix = ({ line, onMend, onClose }: FixProps) => {
  const { source, camera } = line.item;
  const address = readAddress(camera.url);
  const login = address === null || address.login === '' ? '' : `${address.login}@`;
  const [text, setText] = useState(address === null ? camera.url : `${address.host}${address.path}`);
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
