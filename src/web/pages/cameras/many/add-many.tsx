import { useState } from 'preact/hooks';
import { Button } from '../../../parts/button.js';
import { Dialog } from '../../../parts/dialog.js';
import { Field } from '../../../parts/field.js';
import { focusWhenOpened } from '../../../parts/focus-when-opened.js';
import { ProblemBox } from '../../../parts/problem-box.js';
import { Segmented } from '../../../parts/segmented.js';
import { manyText } from '../../../text/add-many.js';
import { useAskBeforeLeaving } from '../use-ask-before-leaving.js';
import { CommonFields } from './common-fields.js';
import { FixForm } from './fix-form.js';
import { LineList } from './line-list.js';
import { faultText } from './line-row.js';
import styles from './many.module.css';
import { type Address, addressesOf, isFailed, type PlannedLine } from './plan.js';
import { useMany } from './use-many.js';

const MAX_FILE_BYTES = 2_500_000;
const MAX_TOLD = 8;
const EXAMPLE = 'rtsp://user:password@10.0.0.{11..60}/s1';

type Many = ReturnType<typeof useMany>;

const Pasted = ({ many }: { readonly many: Many }) => {
  const open = async (file: File | undefined): Promise<void> => {
    if (file !== undefined) many.setText(await file.slice(0, MAX_FILE_BYTES + 1).text());
  };
  return (
    <>
      <Field
        label={manyText('paste')}
        hint={manyText('pasteHint', { range: '{11..60}', list: '{main,sub}' })}
      >
        {(given) => (
          <textarea
            {...given}
            ref={focusWhenOpened}
            class={`${given.class} ${styles.paste}`}
            rows={4}
            placeholder={EXAMPLE}
            spellcheck={false}
            autocomplete="off"
            autocapitalize="none"
            value={many.text}
            onInput={(event) => many.setText(event.currentTarget.value)}
          />
        )}
      </Field>
      <label class={styles.file}>
        {manyText('openFile')}
        <input
          type="file"
          accept=".csv,.txt,text/csv,text/plain"
          onChange={(event) => void open(event.currentTarget.files?.[0])}
        />
      </label>
    </>
  );
};

const isTrouble = ({ state }: PlannedLine): boolean => state === 'failed' || state === 'wrong';

const Summary = ({ many }: { readonly many: Many }) => {
  const { lines } = many.plan;
  const count = (state: PlannedLine['state']): number => lines.filter((line) => line.state === state).length;
  const [wrong, failed, known] = [count('wrong'), count('failed'), count('known')];
  return (
    <p class={styles.summary} role="status">
      {[
        manyText('count', { count: lines.length }),
        ...(wrong > 0 ? [manyText('wrong', { count: wrong })] : []),
        ...(failed > 0 ? [manyText('failed', { count: failed })] : []),
        ...(known > 0 ? [manyText('knownAlready', { count: known })] : []),
      ].join(' · ')}
    </p>
  );
};

const Faults = ({ many }: { readonly many: Many }) => {
  const { faults } = many.parsed;
  if (faults.length === 0) return null;
  return (
    <ul class={styles.faults}>
      {faults.slice(0, MAX_TOLD).map(({ line, fault }) => (
        <li key={`${line} ${fault.code} ${fault.about}`}>
          {manyText('line', { line })}: {faultText(fault)}
        </li>
      ))}
    </ul>
  );
};

const Lines = ({ many }: { readonly many: Many }) => {
  const [shown, setShown] = useState<'all' | 'trouble'>('all');
  const [fixed, setFixed] = useState<string | null>(null);
  const { plan, queue } = many;
  /** What failed of a line; where nothing was tested, its stream is what is wrong. */
  const wrongOf = ({ item }: PlannedLine): readonly [Address, ...Address[]] => {
    const [main] = addressesOf(item);
    const [first = main, ...others] = addressesOf(item).filter(({ asked }) => isFailed(queue.stateOf(asked)));
    return [first, ...others];
  };
  const refusedOf = ({ item }: PlannedLine): readonly Address[] =>
    addressesOf(item).filter(({ asked }) => {
      const test = queue.stateOf(asked);
      return test?.step === 'done' && test.result.code === 'unauthorized';
    });
  const fixing = plan.lines.find((line) => line.item.source === fixed && isTrouble(line));
  const trouble = plan.lines.filter(isTrouble);
  return (
    <>
      <div class={styles.bar}>
        <Summary many={many} />
        {trouble.length === 0 ? null : (
          <Segmented
            label={manyText('show')}
            value={shown}
            choices={[
              { value: 'all', label: manyText('showAll') },
              { value: 'trouble', label: `${manyText('showTrouble')} (${trouble.length})` },
            ]}
            onChange={setShown}
          />
        )}
      </div>
      {fixing === undefined ? null : (
        <FixForm
          key={fixed}
          addresses={wrongOf(fixing)}
          refused={refusedOf(fixing).length > 0 ? plan.lines.flatMap(refusedOf) : []}
          onMend={(pairs) => {
            setFixed(null);
            many.mend(pairs);
          }}
          onClose={() => setFixed(null)}
        />
      )}
      <LineList
        lines={shown === 'trouble' && trouble.length > 0 ? trouble : plan.lines}
        queue={queue}
        refusals={many.refusals}
        onTake={many.take}
        onRetry={many.retry}
        onFix={(line) => setFixed(line.item.source)}
      />
    </>
  );
};

const Footer = ({ many }: { readonly many: Many }) => {
  const { plan, queue, isSaving } = many;
  const isEmpty = plan.lines.length === 0;
  return (
    <>
      {plan.untestedTaken > 0 ? (
        <span class={styles.untested}>{manyText('untested', { count: plan.untestedTaken })}</span>
      ) : null}
      {queue.isBusy ? (
        <>
          <progress class={styles.progress} max={plan.testable.length} value={plan.tested} />
          <span class={styles.status} role="status">
            {manyText('testingAll', { done: plan.tested, count: plan.testable.length })}
          </span>
          <Button onClick={() => queue.cancel()}>{manyText('stop')}</Button>
        </>
      ) : (
        <Button isDisabled={isEmpty} onClick={many.testAll}>
          {manyText('testAll')}
        </Button>
      )}
      <Button
        kind="primary"
        isDisabled={plan.taken.length === 0 || isSaving}
        onClick={() => void many.save()}
      >
        {manyText('save', { count: plan.taken.length })}
      </Button>
    </>
  );
};

/** Fifty cameras in a few clicks: paste, test all, mend what failed, save. */
export const AddMany = ({
  folderId,
  onClose,
}: {
  readonly folderId: string;
  readonly onClose: () => void;
}) => {
  const many = useMany(folderId, onClose);
  const isWorth = many.plan.lines.some(({ item }) => item.sameAs === '');
  const question = { title: manyText('leaveTitle'), text: manyText('leaveText'), action: manyText('leave') };
  const mayLeave = useAskBeforeLeaving(isWorth, question);
  const leave = async (): Promise<void> => {
    if (await mayLeave()) onClose();
  };
  return (
    <Dialog title={manyText('title')} isWide onClose={() => void leave()} footer={<Footer many={many} />}>
      <Pasted many={many} />
      <CommonFields value={many.common} onChange={many.setCommon} />
      {many.failure === null ? null : (
        <ProblemBox what={manyText('notSaved')} problem={many.failure.problem} />
      )}
      <Faults many={many} />
      {many.plan.lines.length === 0 ? null : <Lines many={many} />}
    </Dialog>
  );
};
