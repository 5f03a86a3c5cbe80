import { useState } from 'preact/hooks';
import { folders, loadCameras } from '../../../data/cameras.js';
import { asProblem, type Problem } from '../../../data/problem.js';
import { api } from '../../../data/session.js';
import type { Folder } from '../../../data/types.js';
import { Button } from '../../../parts/button.js';
import { Dialog } from '../../../parts/dialog.js';
import { Field } from '../../../parts/field.js';
import { focusWhenOpened } from '../../../parts/focus-when-opened.js';
import { ProblemBox } from '../../../parts/problem-box.js';
import { folderText } from '../../../text/folders.js';
import { shellText } from '../../../text/shell.js';
import { IdSuggestions } from '../many/suggest-ids.js';
import { mayMove } from './tree.js';

/** What is to be done with a folder; a new one is made in it. */
export type FolderWish =
  | { readonly kind: 'add'; readonly folder: Folder | null }
  | { readonly kind: 'rename' | 'move'; readonly folder: Folder };

const titleOf = ({ kind, folder }: FolderWish): string => {
  const name = folder?.name ?? '';
  if (kind === 'rename') return folderText('renameTitle', { name });
  if (kind === 'move') return folderText('moveTitle', { name });
  return folder === null ? folderText('addTitle') : folderText('addInsideTitle', { name });
};

const save = async ({ kind, folder }: FolderWish, name: string, parentId: string): Promise<void> => {
  if (kind === 'add') {
    const id = new IdSuggestions(folders.peek().map((each) => each.id)).suggest(name || 'folder');
    await api('POST', '/api/folders', { body: { id, name, parent_id: folder?.id ?? '' } });
  } else {
    const body = kind === 'rename' ? { name } : { parent_id: parentId };
    await api('PUT', `/api/folders/${folder.id}`, { body });
  }
  await loadCameras();
};

export const FolderDialog = ({
  wish,
  onClose,
}: {
  readonly wish: FolderWish;
  readonly onClose: () => void;
}) => {
  const { kind, folder } = wish;
  const [name, setName] = useState(kind === 'rename' ? folder.name : '');
  const parents = [{ id: '', name: folderText('root') }, ...folders.value].filter(
    ({ id }) => kind === 'move' && mayMove(folders.value, folder.id, id),
  );
  const [parentId, setParentId] = useState(parents[0]?.id ?? '');
  const [problem, setProblem] = useState<Problem | null>(null);
  const submit = (): void => {
    save(wish, name.trim(), parentId)
      .then(onClose)
      .catch((fault: unknown) => setProblem(asProblem(fault)));
  };
  const isReady = kind === 'move' ? parents.length > 0 : name.trim() !== '';
  return (
    <Dialog
      title={titleOf(wish)}
      onClose={onClose}
      onSubmit={submit}
      footer={
        <>
          <Button onClick={onClose}>{shellText('cancel')}</Button>
          <Button type="submit" kind="primary" isDisabled={!isReady}>
            {kind === 'move' ? folderText('moveAction') : shellText('save')}
          </Button>
        </>
      }
    >
      {problem === null ? null : <ProblemBox what={folderText('saving')} problem={problem} />}
      {kind === 'move' ? (
        <Field label={folderText('parent')}>
          {(given) => (
            <select {...given} value={parentId} onChange={(event) => setParentId(event.currentTarget.value)}>
              {parents.map((parent) => (
                <option key={parent.id} value={parent.id}>
                  {parent.name}
                </option>
              ))}
            </select>
          )}
        </Field>
      ) : (
        <Field label={folderText('name')}>
          {(given) => (
            <input
              {...given}
              ref={focusWhenOpened}
              maxLength={128}
              autocomplete="off"
              value={name}
              onInput={(event) => setName(event.currentTarget.value)}
            />
          )}
        </Field>
      )}
    </Dialog>
  );
};
