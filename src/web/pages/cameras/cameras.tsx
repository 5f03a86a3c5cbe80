import { useEffect, useMemo, useState } from 'preact/hooks';
import {
  cameraList,
  cameras,
  camerasProblem,
  folders,
  loadCameras,
  nameOf,
  tags,
  watchFigures,
} from '../../data/cameras.js';
import { query, setQuery } from '../../data/route.js';
import { may } from '../../data/session.js';
import type { Camera } from '../../data/types.js';
import { Button } from '../../parts/button.js';
import { Dialog } from '../../parts/dialog.js';
import { ProblemBox } from '../../parts/problem-box.js';
import { Banner, EmptyState, Skeleton } from '../../parts/states.js';
import { camerasText } from '../../text/cameras.js';
import { findText } from '../../text/find-cameras.js';
import { folderText, tagText } from '../../text/folders.js';
import { shellText } from '../../text/shell.js';
import type { PageProps } from '../table.js';
import { BulkBar } from './bulk/bulk-bar.js';
import { DeleteDialog } from './bulk/bulk-dialogs.js';
import styles from './cameras.module.css';
import { EditCamera } from './edit/edit-camera.js';
import { FindCameras } from './find/find-cameras.js';
import { FolderTree } from './folders/folder-tree.js';
import { TagsDialog } from './folders/tags-dialog.js';
import { AddMany } from './many/add-many.js';
import { CameraTable } from './table/camera-table.js';
import { FilterBar } from './table/filter-bar.js';
import { keptIn, noSelection } from './table/selection.js';
import { isFiltered, NO_FOLDER, shownCameras, viewOf } from './table/view.js';

const clearFilters = (): void =>
  setQuery({ find: null, state: null, folder: null, tag: null }, { isReplaced: true });

const Failed = () => {
  const problem = camerasProblem.value;
  if (problem === null) return null;
  if (cameras.value === null)
    return (
      <ProblemBox what={camerasText('loadFailed')} problem={problem} onRetry={() => void loadCameras()} />
    );
  return (
    <Banner tone="warn" action={<Button onClick={() => void loadCameras()}>{shellText('retry')}</Button>}>
      {camerasText('stale', { reason: problem.detail })}
    </Banner>
  );
};

const countText = (shown: number, count: number): string => {
  if (shown !== count) return camerasText('countOf', { shown, count });
  return count === 1 ? camerasText('one') : camerasText('count', { count });
};

const byId = <Thing extends { readonly id: string }>(things: readonly Thing[]): ReadonlyMap<string, Thing> =>
  new Map(things.map((thing) => [thing.id, thing]));

type Opened =
  | 'many'
  | 'find'
  | 'tags'
  | 'folders'
  | { readonly edit: string | null }
  | { readonly remove: Camera }
  | null;

const Dialogs = ({
  opened,
  folderId,
  onOpen,
}: {
  readonly opened: Opened;
  readonly folderId: string;
  readonly onOpen: (opened: Opened) => void;
}) => {
  const close = (): void => onOpen(null);
  if (opened === null) return null;
  if (opened === 'tags') return <TagsDialog onClose={close} />;
  if (opened === 'folders')
    return (
      <Dialog title={folderText('folders')} onClose={close}>
        <FolderTree />
      </Dialog>
    );
  if (opened === 'find') return <FindCameras folderId={folderId} onClose={close} />;
  if (opened === 'many') return <AddMany folderId={folderId} onClose={close} />;
  if ('remove' in opened) return <DeleteDialog cameras={[opened.remove]} onClose={close} onDeleted={close} />;
  const toDelete = (id: string): void => {
    const camera = cameras.peek()?.get(id);
    if (camera !== undefined) onOpen({ remove: camera });
  };
  return <EditCamera id={opened.edit} folderId={folderId} onClose={close} onDelete={toDelete} />;
};

/** All cameras: what they do, how they are set, and adding more. */
export const page = (_props: PageProps) => {
  const mayEdit = may('cameras.edit');
  const [opened, setOpened] = useState<Opened>(null);
  const [selection, setSelection] = useState(noSelection);
  useEffect(() => {
    const asked = query.peek().get('edit');
    if (asked === null || !mayEdit) return;
    setOpened({ edit: asked });
    setQuery({ edit: null }, { isReplaced: true });
  }, []);
  useEffect(watchFigures, []);
  const all = cameraList.value;
  const view = viewOf(query.value);
  const names = { nameOf, folders: folders.value, tags: tags.value };
  const rows = shownCameras(all, view, names);
  const folderNames = useMemo(() => byId(folders.value), [folders.value]);
  const tagNames = useMemo(() => byId(tags.value), [tags.value]);
  if (cameras.value === null)
    return (
      <div class={styles.page}>{camerasProblem.value === null ? <Skeleton bars={8} /> : <Failed />}</div>
    );
  const kept = keptIn(
    selection,
    rows.map(({ id }) => id),
  );
  const addButton = (
    <Button icon="plus" kind="primary" onClick={() => setOpened({ edit: null })}>
      {camerasText('add')}
    </Button>
  );
  const addButtons = (
    <div class={styles.actions}>
      <Button icon="tag" onClick={() => setOpened('tags')}>
        {tagText('manage')}
      </Button>
      {may('cameras.test') ? (
        <Button icon="search" onClick={() => setOpened('find')}>
          {findText('open')}
        </Button>
      ) : null}
      <Button icon="upload" onClick={() => setOpened('many')}>
        {camerasText('addMany')}
      </Button>
      {all.length > 0 ? addButton : null}
    </div>
  );
  return (
    <div class={styles.page}>
      <header class={styles.head}>
        <h1>{camerasText('title')}</h1>
        <span class={styles.count}>{countText(rows.length, all.length)}</span>
        {mayEdit ? addButtons : null}
      </header>
      <div>
        <Failed />
        <FilterBar view={view} onFolders={() => setOpened('folders')} />
      </div>
      <div class={styles.split}>
        <div class={styles.tree}>
          <FolderTree />
        </div>
        <div class={styles.main}>
          {rows.length > 0 ? (
            <CameraTable
              rows={rows}
              view={view}
              folderNames={folderNames}
              tagNames={tagNames}
              selection={mayEdit ? kept : null}
              onSelection={setSelection}
              onEdit={(edit) => setOpened({ edit })}
            />
          ) : (
            <EmptyState icon="cctv" text={camerasText(all.length === 0 ? 'none' : 'noneMatch')}>
              {isFiltered(view) && all.length > 0 ? (
                <Button onClick={clearFilters}>{camerasText('clearFilters')}</Button>
              ) : null}
              {mayEdit && all.length === 0 ? addButton : null}
            </EmptyState>
          )}
        </div>
      </div>
      {mayEdit && kept.ids.size > 0 ? (
        <BulkBar
          cameras={rows.filter(({ id }) => kept.ids.has(id))}
          onClear={() => setSelection(noSelection)}
        />
      ) : null}
      <Dialogs opened={opened} folderId={view.folder === NO_FOLDER ? '' : view.folder} onOpen={setOpened} />
    </div>
  );
};
