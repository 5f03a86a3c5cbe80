import { useEffect, useRef, useState } from 'preact/hooks';
import { asProblem, isOffline, type Problem } from '../data/problem.js';
import { leave, me, resume, session } from '../data/session.js';
import { SignIn } from '../pages/sign-in/sign-in.js';
import { Button } from '../parts/button.js';
import { ProblemBox } from '../parts/problem-box.js';
import { Skeleton } from '../parts/states.js';
import { shellText } from '../text/shell.js';
import { signInText } from '../text/sign-in.js';
import styles from './app.module.css';
import { Guard } from './page-frame.js';
import { Shell } from './shell.js';

const FIRST_WAIT_SEC = 1;
const MAX_WAIT_SEC = 8;

/** Until the service says who is signed in: with a countdown while it does not answer, or not that. */
const Resuming = () => {
  const [leftSec, setLeftSec] = useState<number | null>(null);
  const [waitSec, setWaitSec] = useState(FIRST_WAIT_SEC);
  const [problem, setProblem] = useState<Problem | null>(null);
  const tryNow = () => {
    setLeftSec(null);
    resume().catch((fault: unknown) => {
      setProblem(isOffline(fault) ? null : asProblem(fault));
      setLeftSec(waitSec);
      setWaitSec(Math.min(waitSec * 2, MAX_WAIT_SEC));
    });
  };
  useEffect(tryNow, []);
  useEffect(() => {
    if (leftSec === null) return;
    const timer = setTimeout(() => (leftSec <= 1 ? tryNow() : setLeftSec(leftSec - 1)), 1_000);
    return () => clearTimeout(timer);
  });
  return (
    <main class={styles.offline}>
      {problem === null ? null : <ProblemBox what={signInText('title')} problem={problem} />}
      {leftSec === null ? (
        <Skeleton />
      ) : (
        <>
          <p role="status">{shellText(problem === null ? 'offline' : 'retryIn', { seconds: leftSec })}</p>
          <Button onClick={tryNow}>{shellText('retryNow')}</Button>
        </>
      )}
      {problem === null ? null : <Button onClick={leave}>{signInText('submit')}</Button>}
    </main>
  );
};

/** The form before a page whose user was signed out: over its dialogs, too. */
const SignInAgain = () => {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog
      ref={dialog}
      class={styles.again}
      aria-label={signInText('title')}
      onCancel={(event) => event.preventDefault()}
      // A browser closes it at the second Escape, whatever it is told at the first.
      onClose={() => dialog.current?.showModal()}
    >
      <SignIn />
    </dialog>
  );
};

export const App = () => {
  const { state } = session.value;
  if (state === 'unknown') return <Resuming />;
  if (state === 'out') return <SignIn />;
  return (
    <>
      <div class={state === 'ended' ? styles.behind : ''} inert={state === 'ended'}>
        {/* Whoever else signs in finds nothing of what was here. */}
        <Guard key={me.value?.username}>
          <Shell />
        </Guard>
      </div>
      {state === 'ended' ? <SignInAgain /> : null}
    </>
  );
};
