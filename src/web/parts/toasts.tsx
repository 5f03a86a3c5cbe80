import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { shellText } from '../text/shell.js';
import { Button } from './button.js';
import styles from './toasts.module.css';

export type Toast = {
  readonly text: string;
  readonly undo?: () => void;
};

const SHOWN_MS = 6_000;
/** What can be undone stays long enough to be read, and regretted. */
const SHOWN_WITH_UNDO_MS = 12_000;
const MAX_SHOWN = 3;
const SPOKEN_EVERY_MS = 5_000;
const MAX_WAITING = 3;

let count = 0;
const shown = signal<readonly (Toast & { readonly id: number })[]>([]);
const spoken = signal('');
const waiting: string[] = [];
let isSpeaking = false;

const speak = (): void => {
  const text = waiting.shift();
  isSpeaking = text !== undefined;
  if (text === undefined) return;
  spoken.value = text;
  setTimeout(speak, SPOKEN_EVERY_MS);
};

/** Said by screen readers alone, a sentence in five seconds at most; of what piles up the newest are kept. */
export const announce = (text: string): void => {
  if (waiting.at(-1) === text) return;
  waiting.push(text);
  if (waiting.length > MAX_WAITING) waiting.shift();
  if (!isSpeaking) speak();
};

const dismiss = (id: number): void => {
  shown.value = shown.peek().filter((each) => each.id !== id);
};

/** Tells what was done; for what failed and wants an answer there is `ProblemBox`. */
export const toast = (given: Toast): void => {
  count += 1;
  shown.value = [...shown.peek(), { ...given, id: count }].slice(-MAX_SHOWN);
  announce(given.text);
};

const ToastLine = ({ id, text, undo }: Toast & { readonly id: number }) => {
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const hold = () => clearTimeout(timer.current);
  const run = () => {
    hold();
    timer.current = setTimeout(() => dismiss(id), undo === undefined ? SHOWN_MS : SHOWN_WITH_UNDO_MS);
  };
  useEffect(() => {
    run();
    return hold;
  }, []);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: who looks at it keeps it; there is nothing to press
    <div class={styles.toast} onMouseEnter={hold} onMouseLeave={run} onFocusIn={hold} onFocusOut={run}>
      <p>{text}</p>
      {undo === undefined ? null : (
        <Button
          icon="undo"
          kind="quiet"
          onClick={() => {
            dismiss(id);
            undo();
          }}
        >
          {shellText('undo')}
        </Button>
      )}
      <Button icon="close" kind="quiet" label={shellText('close')} onClick={() => dismiss(id)} />
    </div>
  );
};

/** Where they appear, and the one live region: once in the app. */
export const Toasts = () => (
  <>
    <p class="visually-hidden" role="status">
      {spoken.value}
    </p>
    <div class={styles.toasts}>
      {shown.value.map((each) => (
        <ToastLine key={each.id} {...each} />
      ))}
    </div>
  </>
);
