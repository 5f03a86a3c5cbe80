import { boxNames, isCluster } from '../../../data/boxes.js';
import { cameraList, folders, tags } from '../../../data/cameras.js';
import { setQuery } from '../../../data/route.js';
import { may } from '../../../data/session.js';
import type { Camera } from '../../../data/types.js';
import { Button } from '../../../parts/button.js';
import { Select } from '../../../parts/select.js';
import { camerasText, stateText } from '../../../text/cameras.js';
import { folderText } from '../../../text/folders.js';
import styles from '../cameras.module.css';
import { branchesOf } from '../folders/tree.js';
import { NO_BOX, NO_FOLDER, sortColumns, type View } from './view.js';

const states: readonly Camera['state'][] = [
  ...(['streaming', 'connecting', 'reconnecting', 'error'] as const),
  ...(['traffic_limited', 'standby', 'disabled'] as const),
];

const set = (name: string, value: string): void => setQuery({ [name]: value || null }, { isReplaced: true });

/** What is shown of all cameras; each choice stands in the address. */
export const FilterBar = ({ view, onFolders }: { readonly view: View; readonly onFolders: () => void }) => (
  <search class={styles.filters}>
    <input
      type="search"
      class={styles.find}
      aria-label={camerasText('find')}
      placeholder={camerasText('findHint')}
      value={view.text}
      onInput={(event) => set('find', event.currentTarget.value)}
    />
    <Select
      label={camerasText('stateLabel')}
      isLabelHidden
      value={view.state}
      options={[
        { value: '', label: camerasText('anyState') },
        { value: 'trouble', label: camerasText('trouble') },
        ...states.map((state) => ({ value: state, label: stateText(state) })),
      ]}
      onChange={(state) => set('state', state)}
    />
    {tags.value.length === 0 && view.tag === '' ? null : (
      <Select
        label={camerasText('tagLabel')}
        isLabelHidden
        value={view.tag}
        options={[
          { value: '', label: camerasText('anyTag') },
          ...tags.value.map(({ id, name }) => ({ value: id, label: name })),
        ]}
        onChange={(tag) => set('tag', tag)}
      />
    )}
    {isCluster.value || view.box !== '' ? (
      <Select
        label={camerasText('boxLabel')}
        isLabelHidden
        value={view.box}
        options={[
          { value: '', label: camerasText('anyBox') },
          ...[
            ...new Set([...boxNames.value, ...(view.box === '' || view.box === NO_BOX ? [] : [view.box])]),
          ].map((name) => ({ value: name, label: name })),
          { value: NO_BOX, label: camerasText('noBox') },
        ]}
        onChange={(box) => set('box', box)}
      />
    ) : null}
    <div class={styles.folders}>
      <Select
        label={folderText('folder')}
        isLabelHidden
        value={view.folder}
        options={[
          { value: '', label: folderText('all') },
          ...branchesOf(folders.value, cameraList.value).map(({ folder, depth, count }) => ({
            value: folder.id,
            label: `${'\u2003'.repeat(depth)}${folder.name} (${count})`,
          })),
          { value: NO_FOLDER, label: folderText('none') },
        ]}
        onChange={(folder) => set('folder', folder)}
      />
      {may('folders.edit') ? <Button icon="folder" label={folderText('manage')} onClick={onFolders} /> : null}
    </div>
    <div class={styles.sortCards}>
      <Select
        label={camerasText('sortLabel')}
        isLabelHidden
        value={view.sort}
        options={sortColumns.map((column) => ({
          value: column,
          label: `${camerasText('sortLabel')}: ${camerasText(column)}`,
        }))}
        onChange={(sort) => set('sort', sort === 'name' ? '' : sort)}
      />
    </div>
  </search>
);
