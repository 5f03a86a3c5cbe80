import { useEffect } from 'preact/hooks';
import { query, setQuery } from '../../data/route.js';
import { api, may } from '../../data/session.js';
import { showDuration } from '../../data/time.js';
import type { Stats } from '../../data/types.js';
import { PageBody } from '../../parts/page-head.js';
import { Segmented } from '../../parts/segmented.js';
import { Banner } from '../../parts/states.js';
import { useLoaded } from '../../parts/use-action.js';
import { systemText } from '../../text/system.js';
import type { PageProps } from '../table.js';
import { BackupPanel } from './backup.js';
import { Charts } from './charts.js';
import type { Span } from './history.js';
import { SettingsPanels } from './settings.js';
import styles from './system.module.css';

const REFRESH_MS = 5_000;

/** What the service says of itself now. */
const Now = () => {
  const stats = useLoaded((signal) => api<Stats>('GET', '/api/stats', { signal }));
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden) stats.reload();
    }, REFRESH_MS);
    return () => clearInterval(timer);
  }, []);
  if (stats.value === null) return null;
  const { version, uptime_sec, active_streams, total_cameras, active_recordings, storage_fault } =
    stats.value;
  const facts = [
    [systemText('version'), version],
    [systemText('uptime'), showDuration(uptime_sec * 1_000)],
    [systemText('cameras'), systemText('camerasOf', { streaming: active_streams, all: total_cameras })],
    [systemText('recordings'), active_recordings],
  ] as const;
  return (
    <>
      {storage_fault === '' ? null : (
        <div role="alert">
          <Banner tone="danger">{systemText('storageFault', { why: storage_fault })}</Banner>
        </div>
      )}
      <dl class={styles.facts} aria-label={systemText('figures')}>
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </>
  );
};

/** How the service does; for admins also backups and settings. */
export const page = (_props: PageProps) => {
  const span: Span = query.value.get('span') === 'day' ? 'day' : 'hour';
  return (
    <PageBody
      title={systemText('title')}
      actions={
        <Segmented<Span>
          label={systemText('span')}
          choices={[
            { value: 'hour', label: systemText('hour') },
            { value: 'day', label: systemText('day') },
          ]}
          value={span}
          onChange={(value) => setQuery({ span: value === 'day' ? 'day' : null })}
        />
      }
    >
      <Now />
      <Charts key={span} span={span} />
      <div class={styles.panels}>
        {may('backup.manage') ? <BackupPanel /> : null}
        {may('settings.manage') ? <SettingsPanels /> : null}
      </div>
    </PageBody>
  );
};
