import { useState } from 'preact/hooks';
import { serviceNowMs } from '../../data/service-clock.js';
import { api } from '../../data/session.js';
import type { MadeApiKey } from '../../data/types.js';
import { Button } from '../../parts/button.js';
import { Dialog } from '../../parts/dialog.js';
import { Field } from '../../parts/field.js';
import { ProblemBox } from '../../parts/problem-box.js';
import { ShownOnce } from '../../parts/shown-once.js';
import { useAction } from '../../parts/use-action.js';
import { keysText } from '../../text/api-keys.js';
import { shellText } from '../../text/shell.js';
import { usersText } from '../../text/users.js';
import { RoleChoice, type RoleName } from '../users/role-choice.js';
import { isChosen, type Sight, SightChoice } from '../users/sight-choice.js';

const DAY_MS = 86_400_000;
/** For how many days it is good; 0: until it is removed. */
const LASTS_DAYS = [0, 1, 7, 30, 90, 365];

const limitsOf = (role: RoleName, sight: Sight): object =>
  role === 'admin' || sight === null
    ? {}
    : {
        ...(sight.folders.length > 0 && { folders: sight.folders }),
        ...(sight.cameras.length > 0 && { cameras: sight.cameras }),
      };

export const NewKey = ({
  onClose,
  onDone,
}: {
  readonly onClose: () => void;
  readonly onDone: (made: MadeApiKey) => void;
}) => {
  const [name, setName] = useState('');
  const [role, setRole] = useState<RoleName>('service');
  const [sight, setSight] = useState<Sight>(null);
  const [days, setDays] = useState(0);
  const add = useAction(async () => {
    const expires = days === 0 ? null : new Date(serviceNowMs() + days * DAY_MS).toISOString();
    const body = { name, role, expires, ...limitsOf(role, sight) };
    onDone(await api<MadeApiKey>('POST', '/api/keys', { body }));
  });
  const isReady = role === 'admin' || isChosen(sight);
  return (
    <Dialog
      title={keysText('addTitle')}
      onClose={onClose}
      onSubmit={() => void add.run()}
      footer={
        <>
          <Button onClick={onClose}>{shellText('cancel')}</Button>
          <Button type="submit" kind="primary" isDisabled={add.isBusy || !isReady}>
            {keysText('add')}
          </Button>
        </>
      }
    >
      <Field label={keysText('name')} hint={keysText('nameHint')}>
        {(given) => (
          <input
            {...given}
            name="key-name"
            value={name}
            autocomplete="off"
            autocapitalize="none"
            spellcheck={false}
            required
            onInput={(event) => setName(event.currentTarget.value)}
          />
        )}
      </Field>
      <RoleChoice value={role} onChange={setRole} />
      {role === 'admin' ? (
        <p>{usersText('adminSeesAll')}</p>
      ) : (
        <SightChoice value={sight} hasCameras onChange={setSight} />
      )}
      <Field label={keysText('lasts')}>
        {(given) => (
          <select
            {...given}
            value={String(days)}
            onChange={(event) => setDays(Number(event.currentTarget.value))}
          >
            {LASTS_DAYS.map((count) => (
              <option key={count} value={String(count)}>
                {count === 0 ? keysText('forever') : keysText('days', { count })}
              </option>
            ))}
          </select>
        )}
      </Field>
      {add.problem === null ? null : <ProblemBox what={keysText('add')} problem={add.problem} />}
    </Dialog>
  );
};

/** The key itself, which is known here and now alone. */
export const KeyOnce = ({ made, onClose }: { readonly made: MadeApiKey; readonly onClose: () => void }) => (
  <Dialog
    title={keysText('keyOf', { name: made.name })}
    onClose={onClose}
    footer={
      <Button kind="primary" onClick={onClose}>
        {keysText('done')}
      </Button>
    }
  >
    <ShownOnce secret={made.key} copied={keysText('copied')} />
    <p>{keysText('once')}</p>
    {made.onvif_password === undefined ? null : (
      <>
        <ShownOnce secret={made.onvif_password} copied={keysText('passwordCopied')} />
        <p>{keysText('onvif', { name: made.name })}</p>
      </>
    )}
  </Dialog>
);
