import { useState } from 'preact/hooks';
import { folders, tags } from '../../../data/cameras.js';
import { asProblem, type Problem } from '../../../data/problem.js';
import type { Camera } from '../../../data/types.js';
import { Button } from '../../../parts/button.js';
import { Dialog } from '../../../parts/dialog.js';
import { Field } from '../../../parts/field.js';
import { ProblemBox } from '../../../parts/problem-box.js';
import { Segmented } from '../../../parts/segmented.js';
import { bulkText } from '../../../text/bulk-cameras.js';
import { shellText } from '../../../text/shell.js';
import { changeMany, deleteMany } from './apply.js';
import styles from './bulk.module.css';
import { withTags } from './changes.js';

type Opened = { readonly cameras: readonly Camera[]; readonly onClose: () => void };

/** Does it, and closes; what failed stays to be seen. */
const useAction = (act: () => Promise<void>, onClose: () => void) => {
  const [problem, setProblem] = useState<Problem | null>(null);
  const [isBusy, setIsBusy] = useState(false);
  const run = (): void => {
    setIsBusy(true);
    setProblem(null);
    act()
      .then(onClose)
      .catch((fault: unknown) => setProblem(asProblem(fault)))
      .finally(() => setIsBusy(false));
  };
  const shown = problem === null ? null : <ProblemBox what={bulkText('failed')} problem={problem} />;
  return { run, isBusy, shown };
};

const Footer = (props: {
  readonly action: string;
  readonly isDangerous?: boolean;
  readonly isDisabled: boolean;
  readonly onClose: () => void;
}) => (
  <>
    <Button onClick={props.onClose}>{shellText('cancel')}</Button>
    <Button
      type="submit"
      kind={props.isDangerous === true ? 'danger' : 'primary'}
      isDisabled={props.isDisabled}
    >
      {props.action}
    </Button>
  </>
);

export const RetentionDialog = ({ cameras, onClose }: Opened) => {
  const [days, setDays] = useState(cameras[0]?.retention_days ?? 7);
  const { run, isBusy, shown } = useAction(
    () => changeMany(cameras, () => ({ retention_days: days })),
    onClose,
  );
  return (
    <Dialog
      title={bulkText('retentionTitle', { count: cameras.length })}
      onClose={onClose}
      onSubmit={run}
      footer={<Footer action={shellText('save')} isDisabled={isBusy} onClose={onClose} />}
    >
      {shown}
      <Field label={bulkText('days')}>
        {(given) => (
          <input
            {...given}
            type="number"
            min={0}
            max={36_500}
            required
            value={days}
            onInput={(event) => setDays(Math.floor(event.currentTarget.valueAsNumber || 0))}
          />
        )}
      </Field>
    </Dialog>
  );
};

export const MoveDialog = ({ cameras, onClose }: Opened) => {
  const [folder, setFolder] = useState(cameras[0]?.folder_id ?? '');
  const { run, isBusy, shown } = useAction(() => changeMany(cameras, () => ({ folder_id: folder })), onClose);
  return (
    <Dialog
      title={bulkText('moveTitle', { count: cameras.length })}
      onClose={onClose}
      onSubmit={run}
      footer={<Footer action={bulkText('moveAction')} isDisabled={isBusy} onClose={onClose} />}
    >
      {shown}
      <Field label={bulkText('folder')}>
        {(given) => (
          <select {...given} value={folder} onChange={(event) => setFolder(event.currentTarget.value)}>
            <option value="">{bulkText('noFolder')}</option>
            {folders.value.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
        )}
      </Field>
    </Dialog>
  );
};

type TagWish = 'leave' | 'add' | 'remove';

export const TagsDialog = ({ cameras, onClose }: Opened) => {
  const [wishes, setWishes] = useState<Readonly<Record<string, TagWish>>>({});
  const wished = (wish: TagWish): string[] => Object.keys(wishes).filter((id) => wishes[id] === wish);
  const { run, isBusy, shown } = useAction(
    () => changeMany(cameras, (camera) => withTags(camera, wished('add'), wished('remove'))),
    onClose,
  );
  return (
    <Dialog
      title={bulkText('tagsTitle', { count: cameras.length })}
      onClose={onClose}
      onSubmit={run}
      footer={<Footer action={shellText('save')} isDisabled={isBusy} onClose={onClose} />}
    >
      {shown}
      {tags.value.length === 0 ? <p>{bulkText('noTags')}</p> : null}
      {tags.value.map(({ id, name }) => (
        <div key={id} class={styles.tag}>
          <span>{name}</span>
          <Segmented<TagWish>
            label={name}
            value={wishes[id] ?? 'leave'}
            choices={(['leave', 'add', 'remove'] as const).map((value) => ({
              value,
              label: bulkText(value),
            }))}
            onChange={(wish) => setWishes({ ...wishes, [id]: wish })}
          />
        </div>
      ))}
    </Dialog>
  );
};

/** Settings are gone for good: one has to write how many, or which. */
export const DeleteDialog = ({
  cameras,
  onClose,
  onDeleted,
}: Opened & { readonly onDeleted: () => void }) => {
  const [typed, setTyped] = useState('');
  const [recordings, setRecordings] = useState<'keep' | 'delete'>('keep');
  const [one] = cameras;
  const isOne = cameras.length === 1 && one !== undefined;
  const word = isOne ? one.id : String(cameras.length);
  const { run, isBusy, shown } = useAction(
    () =>
      deleteMany(
        cameras.map(({ id }) => id),
        recordings,
      ),
    onDeleted,
  );
  return (
    <Dialog
      title={isOne ? bulkText('deleteOneTitle', { id: word }) : bulkText('deleteTitle', { count: word })}
      onClose={onClose}
      onSubmit={run}
      footer={
        <Footer
          action={bulkText('deleteAction')}
          isDangerous
          isDisabled={isBusy || typed.trim() !== word}
          onClose={onClose}
        />
      }
    >
      {shown}
      <p>{bulkText('deleteText')}</p>
      {(['keep', 'delete'] as const).map((value) => (
        <label key={value} class={styles.choice}>
          <input
            type="radio"
            name="recordings"
            checked={recordings === value}
            onChange={() => setRecordings(value)}
          />
          {bulkText(value === 'keep' ? 'keepRecordings' : 'deleteRecordings')}
        </label>
      ))}
      <Field label={bulkText('typeThis', { word })}>
        {(given) => (
          <input
            {...given}
            autocomplete="off"
            autocapitalize="none"
            value={typed}
            onInput={(event) => setTyped(event.currentTarget.value)}
          />
        )}
      </Field>
    </Dialog>
  );
};
