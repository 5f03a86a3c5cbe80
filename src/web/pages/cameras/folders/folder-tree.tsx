import { useState } from 'preact/hooks';
import { cameraList, cameras, folders, loadCameras } from '../../../data/cameras.js';
import { asProblem, type Problem } from '../../../data/problem.js';
import { query, setQuery } from '../../../data/route.js';
import { api, may } from '../../../data/session.js';
import type { Folder } from '../../../data/types.js';
import { Button } from '../../../parts/button.js';
import { confirm } from '../../../parts/confirm.js';
import { Icon } from '../../../parts/icon.js';
import { Menu } from '../../../parts/menu.js';
import { ProblemBox } from '../../../parts/problem-box.js';
import { folderText } from '../../../text/folders.js';
import { changeMany } from '../bulk/apply.js';
import { DRAGGED_CAMERAS } from '../table/camera-table.js';
import { NO_FOLDER } from '../table/view.js';
import { FolderDialog, type FolderWish } from './folder-dialog.js';
import styles from './folders.module.css';
import { branchesOf, mayMove } from './tree.js';

const DRAGGED_FOLDER = 'application/x-framering-folder';
const INDENT_PX = 14;

const show = (folder: string): void => setQuery({ folder: folder || null }, { isReplaced: true });

/** What was dropped goes into the folder. */
const drop = async (data: DataTransfer, folderId: string): Promise<void> => {
  const folder = data.getData(DRAGGED_FOLDER);
  if (folder !== '') {
    if (!mayMove(folders.peek(), folder, folderId)) return;
    await api('PUT', `/api/folders/${folder}`, { body: { parent_id: folderId } });
    return loadCameras();
  }
  const text = data.getData(DRAGGED_CAMERAS);
  if (text === '') return;
  const ids = new Set(JSON.parse(text) as string[]);
  const moved = cameraList.peek().filter(({ id }) => ids.has(id));
  await changeMany(moved, () => ({ folder_id: folderId }));
};

const remove = async (folder: Folder): Promise<void> => {
  const parent = folders.peek().find(({ id }) => id === folder.parent_id)?.name ?? folderText('root');
  const isSo = await confirm({
    title: folderText('deleteTitle', { name: folder.name }),
    text: folderText('deleteText', { parent }),
    action: folderText('deleteAction'),
    isDangerous: true,
  });
  if (!isSo) return;
  await api('DELETE', `/api/folders/${folder.id}`);
  if (query.peek().get('folder') === folder.id) show('');
  await loadCameras();
};

type LineProps = {
  /** "" all, or the root for what is dropped. */
  readonly id: string;
  readonly name: string;
  readonly count: number;
  readonly depth: number;
  readonly folder?: Folder;
  readonly onFault: (problem: Problem) => void;
  readonly onWish: (wish: FolderWish) => void;
};

const Line = ({ id, name, count, depth, folder, onFault, onWish }: LineProps) => {
  const [isOver, setIsOver] = useState(false);
  const mayEdit = may('folders.edit');
  const fail = (fault: unknown): void => onFault(asProblem(fault));
  const handled = mayEdit
    ? {
        draggable: folder !== undefined,
        onDragStart: (event: DragEvent) => event.dataTransfer?.setData(DRAGGED_FOLDER, id),
        onDragOver: (event: DragEvent) => {
          event.preventDefault();
          setIsOver(true);
        },
        onDragLeave: () => setIsOver(false),
        onDrop: (event: DragEvent) => {
          event.preventDefault();
          setIsOver(false);
          if (event.dataTransfer !== null) drop(event.dataTransfer, id === NO_FOLDER ? '' : id).catch(fail);
        },
      }
    : {};
  return (
    <li class={`${styles.line} ${isOver ? styles.over : ''}`} {...handled}>
      <button
        type="button"
        class={styles.choose}
        style={{ paddingInlineStart: `${8 + depth * INDENT_PX}px` }}
        aria-current={(query.value.get('folder') ?? '') === id ? 'true' : undefined}
        onClick={() => show(id)}
      >
        <Icon name={folder === undefined ? 'cctv' : 'folder'} />
        <span class={styles.name}>{name}</span>
        <small>{count}</small>
      </button>
      {folder === undefined || !mayEdit ? null : (
        <Menu
          icon="more"
          kind="quiet"
          label={folderText('more', { name })}
          items={[
            { label: folderText('addInside'), icon: 'plus', onSelect: () => onWish({ kind: 'add', folder }) },
            { label: folderText('rename'), icon: 'edit', onSelect: () => onWish({ kind: 'rename', folder }) },
            { label: folderText('move'), icon: 'move', onSelect: () => onWish({ kind: 'move', folder }) },
            {
              label: folderText('delete'),
              icon: 'remove',
              isDangerous: true,
              onSelect: () => void remove(folder).catch(fail),
            },
          ]}
        />
      )}
    </li>
  );
};

/** Folders as they lie in each other: a click shows what is in one, and cameras and folders can be dragged into them. */
export const FolderTree = () => {
  const [wish, setWish] = useState<FolderWish | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const all = [...(cameras.value?.values() ?? [])];
  const branches = branchesOf(folders.value, all);
  const handlers = { onFault: setProblem, onWish: setWish };
  return (
    <nav class={styles.tree} aria-label={folderText('folders')}>
      {problem === null ? null : <ProblemBox what={folderText('saving')} problem={problem} />}
      <ul>
        <Line id="" name={folderText('all')} count={all.length} depth={0} {...handlers} />
        {branches.map(({ folder, depth, count }) => (
          <Line
            key={folder.id}
            id={folder.id}
            name={folder.name}
            count={count}
            depth={depth}
            folder={folder}
            {...handlers}
          />
        ))}
        {branches.length === 0 ? null : (
          <Line
            id={NO_FOLDER}
            name={folderText('none')}
            count={all.filter(({ folder_id: id }) => id === '').length}
            depth={0}
            {...handlers}
          />
        )}
      </ul>
      {may('folders.edit') ? (
        <Button icon="plus" kind="quiet" onClick={() => setWish({ kind: 'add', folder: null })}>
          {folderText('add')}
        </Button>
      ) : null}
      {wish === null ? null : <FolderDialog wish={wish} onClose={() => setWish(null)} />}
    </nav>
  );
};
