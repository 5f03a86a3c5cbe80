import { useEffect, useState } from 'preact/hooks';
import { isOffline, Problem } from '../../data/problem.js';
import { session, signIn } from '../../data/session.js';
import { Button } from '../../parts/button.js';
import { Field } from '../../parts/field.js';
import { signInText } from '../../text/sign-in.js';
import styles from './sign-in.module.css';

const DEFAULT_WAIT_SEC = 60;

/** Counts down to nothing, once a second. */
const useCountdown = (): [leftSec: number, begin: (seconds: number) => void] => {
  const [untilMs, setUntilMs] = useState(0);
  const [leftSec, setLeftSec] = useState(0);
  useEffect(() => {
    const look = () => setLeftSec(Math.max(0, Math.ceil((untilMs - performance.now()) / 1_000)));
    look();
    if (untilMs === 0) return;
    const timer = setInterval(look, 1_000);
    return () => clearInterval(timer);
  }, [untilMs]);
  return [leftSec, (seconds) => setUntilMs(performance.now() + seconds * 1_000)];
};

const useSignIn = () => {
  const [fault, setFault] = useState<string | null>(null);
  const [isBusy, setIsBusy] = useState(false);
  const [leftSec, wait] = useCountdown();
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    setIsBusy(true);
    setFault(null);
    try {
      await signIn(String(form.get('username')), String(form.get('password')), form.get('remember') !== null);
    } catch (thrown) {
      const problem = thrown instanceof Problem ? thrown : null;
      if (problem?.status === 429) wait(problem.retryAfterSec ?? DEFAULT_WAIT_SEC);
      else if (problem?.status === 401) setFault(signInText('wrong'));
      else setFault(isOffline(thrown) ? signInText('noService') : (problem?.detail ?? String(thrown)));
    } finally {
      setIsBusy(false);
    }
  };
  return {
    fault: leftSec > 0 ? signInText('limited', { seconds: leftSec }) : fault,
    isBusy,
    leftSec,
    submit,
  };
};

/** One form; the page behind it is where it was. */
export const SignIn = () => {
  const { fault, isBusy, leftSec, submit } = useSignIn();
  return (
    <main class={styles.page}>
      <form class={styles.form} onSubmit={(event) => void submit(event)}>
        <img src="/icon.svg" alt="" width="48" height="48" />
        <h1>{signInText('title')}</h1>
        {session.value.state === 'ended' ? (
          <p role="status">
            {signInText('ended')} {session.value.why}
          </p>
        ) : null}
        <Field label={signInText('username')}>
          {(given) => (
            <input {...given} name="username" autocomplete="username" autocapitalize="none" required />
          )}
        </Field>
        <Field label={signInText('password')}>
          {(given) => (
            <input {...given} name="password" type="password" autocomplete="current-password" required />
          )}
        </Field>
        <label class={styles.remember}>
          <input type="checkbox" name="remember" /> {signInText('remember')}
        </label>
        <p class={styles.fault} role="alert">
          {fault}
        </p>
        <Button type="submit" kind="primary" isDisabled={isBusy || leftSec > 0}>
          {signInText('submit')}
        </Button>
      </form>
    </main>
  );
};
