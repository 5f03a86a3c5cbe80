import { cameraList, cameras, folders } from '../../data/cameras.js';
import { usersText } from '../../text/users.js';
import styles from './users.module.css';

/** What is seen alone; null: everything. */
export type Sight = { readonly folders: readonly string[]; readonly cameras: readonly string[] } | null;

/** The name of a folder behind those that it lies in. */
export const folderPath = (id: string): string => {
  const byId = new Map(folders.value.map((folder) => [folder.id, folder]));
  const names: string[] = [];
  // As many steps as there are folders: what lies in itself leads nowhere.
  for (let at = byId.get(id); at !== undefined && names.length < byId.size; at = byId.get(at.parent_id))
    names.unshift(at.name);
  return names.length > 0 ? names.join(' / ') : usersText('goneFolder', { id });
};

/** Whether something was chosen that can be sent. */
export const isChosen = (sight: Sight): boolean =>
  sight === null || sight.folders.length + sight.cameras.length > 0;

const toggled = (list: readonly string[], id: string): string[] =>
  list.includes(id) ? list.filter((each) => each !== id) : [...list, id];

const Choices = ({
  ids,
  nameOf,
  chosen,
  onToggle,
}: {
  readonly ids: readonly string[];
  readonly nameOf: (id: string) => string;
  readonly chosen: readonly string[];
  readonly onToggle: (id: string) => void;
}) => (
  <>
    {ids.map((id) => (
      <label key={id} class={styles.choice}>
        <input type="checkbox" checked={chosen.includes(id)} onChange={() => onToggle(id)} />
        <span>{nameOf(id)}</span>
      </label>
    ))}
  </>
);

/** Everything, or some folders, and single cameras where that can be. */
export const SightChoice = ({
  value,
  hasCameras = false,
  onChange,
}: {
  readonly value: Sight;
  readonly hasCameras?: boolean;
  readonly onChange: (sight: Sight) => void;
}) => {
  const known = folders.value.map(({ id }) => id);
  // One that is gone is still shown: nothing is lost by saving something else.
  const gone = (value?.folders ?? []).filter((id) => !known.includes(id));
  const folderIds = [...gone, ...known].sort((a, b) => folderPath(a).localeCompare(folderPath(b)));
  const cameraIds = hasCameras && cameras.value !== null ? cameraList.value.map(({ id }) => id) : [];
  const isEmpty = folderIds.length + cameraIds.length === 0;
  return (
    <fieldset class={styles.roles}>
      <legend>{usersText('sees')}</legend>
      <label class={styles.choice}>
        <input type="radio" name="sees" checked={value === null} onChange={() => onChange(null)} />
        <span>{usersText('seesAll')}</span>
      </label>
      <label class={styles.choice}>
        <input
          type="radio"
          name="sees"
          checked={value !== null}
          disabled={isEmpty}
          onChange={() => onChange({ folders: [], cameras: [] })}
        />
        <span>{usersText(hasCameras ? 'seesSomeCameras' : 'seesSome')}</span>
      </label>
      {isEmpty ? <small>{usersText('noFolders')}</small> : null}
      {value === null ? null : (
        <div class={styles.folders}>
          <Choices
            ids={folderIds}
            nameOf={folderPath}
            chosen={value.folders}
            onToggle={(id) => onChange({ ...value, folders: toggled(value.folders, id) })}
          />
          <Choices
            ids={cameraIds}
            nameOf={(id) => id}
            chosen={value.cameras}
            onToggle={(id) => onChange({ ...value, cameras: toggled(value.cameras, id) })}
          />
        </div>
      )}
      {isChosen(value) ? null : <small>{usersText('chooseSome')}</small>}
    </fieldset>
  );
};
