import { useState } from 'preact/hooks';
import { asProblem, type Problem } from '../../data/problem.js';
import { Button } from '../../parts/button.js';
import { Dialog } from '../../parts/dialog.js';
import { Field } from '../../parts/field.js';
import { ProblemBox } from '../../parts/problem-box.js';
import { wallText } from '../../text/wall.js';

const MAX_NAME = 128;

/** Asks what a layout is called. */
export const NameDialog = (props: {
  readonly initial: string;
  readonly keep: (name: string) => Promise<void>;
  readonly onClose: () => void;
}) => {
  const [name, setName] = useState(props.initial);
  const [isBusy, setIsBusy] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  const submit = (): void => {
    setIsBusy(true);
    props
      .keep(name.trim())
      .then(props.onClose)
      .catch((fault: unknown) => setProblem(asProblem(fault)))
      .finally(() => setIsBusy(false));
  };
  return (
    <Dialog
      title={wallText('name')}
      onClose={props.onClose}
      onSubmit={submit}
      footer={
        <Button type="submit" kind="primary" isDisabled={isBusy || name.trim() === ''}>
          {wallText('save')}
        </Button>
      }
    >
      <Field label={wallText('name')} hint={wallText('nameHint')}>
        {(given) => (
          <input
            {...given}
            required
            maxLength={MAX_NAME}
            value={name}
            onInput={(event) => setName(event.currentTarget.value)}
          />
        )}
      </Field>
      {problem === null ? null : <ProblemBox what={wallText('changeFailed')} problem={problem} />}
    </Dialog>
  );
};
