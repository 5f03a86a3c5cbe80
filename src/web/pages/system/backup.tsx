import { useRef, useState } from 'preact/hooks';
import { cameraList, folders, loadCameras, tags } from '../../data/cameras.js';
import { Problem } from '../../data/problem.js';
import { api, call, checkSession, me } from '../../data/session.js';
import { showMoment, today } from '../../data/time.js';
import { Button } from '../../parts/button.js';
import { Dialog } from '../../parts/dialog.js';
import { Panel } from '../../parts/page-head.js';
import { ProblemBox } from '../../parts/problem-box.js';
import { Banner } from '../../parts/states.js';
import { Table } from '../../parts/table.js';
import { toast } from '../../parts/toasts.js';
import { useAction } from '../../parts/use-action.js';
import { shellText } from '../../text/shell.js';
import { systemText } from '../../text/system.js';
import { type Backup, type Change, changesOf, readBackup } from './backup-summary.js';
import styles from './system.module.css';

const MAX_BYTES = 64_000_000;
const MAX_NAMES = 8;

type Asked = { readonly backup: Backup; readonly changes: readonly Change[] };

const download = async (): Promise<void> => {
  const answer = await call('GET', '/api/system/backup/export');
  const url = URL.createObjectURL(await answer.blob());
  const link = Object.assign(document.createElement('a'), {
    href: url,
    download: `framering-backup-${today()}.json`,
  });
  link.click();
  // The browser has taken it by then; a click that is too slow for that is not of this page's making.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
};

const refused = (detail: string): Problem => new Problem({ status: -1, code: 'not_a_backup', detail });

const look = async (file: File): Promise<Asked> => {
  if (file.size > MAX_BYTES) throw refused(systemText('tooLarge'));
  const backup = readBackup(await file.text());
  if (backup === null) throw refused(systemText('notABackup'));
  const users = await api<{ username: string }[]>('GET', '/api/users');
  const idOf = ({ id }: { readonly id: string }): string => id;
  const now = {
    cameras: cameraList.peek().map(idOf),
    folders: folders.peek().map(idOf),
    tags: tags.peek().map(idOf),
    users: users.map(({ username }) => username),
  };
  return { backup, changes: changesOf(now, backup) };
};

const namesText = (names: readonly string[]): string =>
  names.length <= MAX_NAMES
    ? names.join(', ')
    : systemText('andMore', {
        names: names.slice(0, MAX_NAMES).join(', '),
        count: names.length - MAX_NAMES,
      });

const Summary = ({ asked, onClose }: { readonly asked: Asked; readonly onClose: () => void }) => {
  const { backup, changes } = asked;
  const restore = useAction(async () => {
    await api('POST', '/api/system/backup/import', { body: backup.content, timeoutMs: 120_000 });
    toast({ text: systemText('restored') });
    onClose();
    await checkSession();
    await loadCameras();
  });
  const madeMs = Date.parse(backup.exportedAt ?? '');
  const isIn = backup.names.users.includes(me.value?.username ?? '');
  return (
    <Dialog
      title={systemText('summaryTitle')}
      isWide
      onClose={onClose}
      onSubmit={() => void restore.run()}
      footer={
        <>
          <Button onClick={onClose}>{shellText('cancel')}</Button>
          <Button type="submit" kind="danger" isDisabled={restore.isBusy}>
            {systemText('restoreAction')}
          </Button>
        </>
      }
    >
      <p>
        {Number.isNaN(madeMs)
          ? systemText('summaryUnknown')
          : systemText('summaryOf', { when: showMoment(madeMs) })}
      </p>
      <Table
        caption={systemText('summaryTable')}
        head={[systemText('what'), systemText('have'), systemText('will')]}
      >
        {changes.map(({ kind, now, afterwards, comes, goes }) => (
          <tr key={kind}>
            <td>
              {systemText(kind)}
              {goes.length === 0 ? null : (
                <p class={styles.note}>{systemText('goes', { names: namesText(goes) })}</p>
              )}
              {comes.length === 0 ? null : (
                <p class={styles.note}>{systemText('comes', { names: namesText(comes) })}</p>
              )}
            </td>
            <td>{now}</td>
            <td>{afterwards}</td>
          </tr>
        ))}
      </Table>
      <Banner tone={isIn ? 'warn' : 'danger'}>{systemText(isIn ? 'signsOut' : 'lacksYou')}</Banner>
      {restore.problem === null ? null : (
        <ProblemBox what={systemText('restoreFailed')} problem={restore.problem} />
      )}
    </Dialog>
  );
};

/** The whole configuration, out and in again. */
export const BackupPanel = () => {
  const [asked, setAsked] = useState<Asked | null>(null);
  const input = useRef<HTMLInputElement>(null);
  const fetching = useAction(download);
  const looking = useAction(async (file: File) => setAsked(await look(file)));
  return (
    <Panel title={systemText('backup')}>
      <p>{systemText('backupText')}</p>
      <p class={styles.buttons}>
        <Button icon="download" isDisabled={fetching.isBusy} onClick={() => void fetching.run()}>
          {systemText('download')}
        </Button>
        <Button icon="upload" isDisabled={looking.isBusy} onClick={() => input.current?.click()}>
          {systemText('restore')}
        </Button>
        <input
          ref={input}
          hidden
          type="file"
          accept="application/json,.json"
          aria-label={systemText('chooseFile')}
          onChange={({ currentTarget }) => {
            const [file] = currentTarget.files ?? [];
            if (file !== undefined) void looking.run(file);
            // The same file may be chosen again.
            currentTarget.value = '';
          }}
        />
      </p>
      {fetching.problem === null ? null : (
        <ProblemBox what={systemText('downloadFailed')} problem={fetching.problem} />
      )}
      {looking.problem === null ? null : (
        <ProblemBox what={systemText('restoreFailed')} problem={looking.problem} />
      )}
      {asked === null ? null : <Summary asked={asked} onClose={() => setAsked(null)} />}
    </Panel>
  );
};
