import { signal } from '@preact/signals';
import { shellText } from '../text/shell.js';
import { Button } from './button.js';
import { Dialog } from './dialog.js';

export type Question = {
  readonly title: string;
  /** What happens, and what can't be undone. */
  readonly text: string;
  /** The verb on the button: "Delete", not "OK". */
  readonly action: string;
  readonly isDangerous?: boolean;
};

const asked = signal<{ question: Question; answer: (isSo: boolean) => void } | null>(null);

/** Asks, and waits for the answer; one question at a time. */
export const confirm = (question: Question): Promise<boolean> => {
  asked.peek()?.answer(false);
  return new Promise((resolve) => {
    asked.value = {
      question,
      answer: (isSo) => {
        asked.value = null;
        resolve(isSo);
      },
    };
  });
};

/** Where questions appear: once in the app. */
export const ConfirmHost = () => {
  if (asked.value === null) return null;
  const { question, answer } = asked.value;
  return (
    <Dialog
      title={question.title}
      onClose={() => answer(false)}
      onSubmit={() => answer(true)}
      footer={
        <>
          <Button onClick={() => answer(false)}>{shellText('cancel')}</Button>
          <Button type="submit" kind={question.isDangerous === true ? 'danger' : 'primary'}>
            {question.action}
          </Button>
        </>
      }
    >
      <p>{question.text}</p>
    </Dialog>
  );
};
