import { boxNames, isCluster, listBoxes } from '../../../data/boxes.js';
import { Field } from '../../../parts/field.js';
import { useLoaded } from '../../../parts/use-action.js';
import { editText } from '../../../text/edit-camera.js';
import { Conflict } from './setting-fields.js';
import type { Edit } from './use-edit.js';

/** The box of a cluster that is to have the camera. */
export const BoxField = ({ edit }: { readonly edit: Edit }) => {
  const listed = useLoaded(listBoxes);
  if (!isCluster.value) return null;
  const pinned = edit.form?.draft.box ?? null;
  const names = [...new Set([...(listed.value ?? boxNames.value), ...(pinned === null ? [] : [pinned])])];
  const fault = edit.faults.get('box');
  return (
    <div>
      <Field label={editText('box')} hint={editText('boxHint')} {...(fault === undefined ? {} : { fault })}>
        {(given) => (
          <select
            {...given}
            value={pinned ?? ''}
            onChange={({ currentTarget: { value } }) => edit.set({ box: value === '' ? null : value })}
          >
            <option value="">{editText('anyBox')}</option>
            {names.sort().map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Conflict edit={edit} name="box" />
    </div>
  );
};
