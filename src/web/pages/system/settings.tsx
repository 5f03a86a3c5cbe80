import { useState } from 'preact/hooks';
import { api, refreshMe } from '../../data/session.js';
import type { Settings } from '../../data/types.js';
import { cityOf } from '../../data/zones.js';
import { Button } from '../../parts/button.js';
import { Panel } from '../../parts/page-head.js';
import { ProblemBox } from '../../parts/problem-box.js';
import { Select } from '../../parts/select.js';
import { Skeleton } from '../../parts/states.js';
import { Table } from '../../parts/table.js';
import { toast } from '../../parts/toasts.js';
import { useAction, useLoaded } from '../../parts/use-action.js';
import { setupText } from '../../text/setup.js';
import { shellText } from '../../text/shell.js';
import { systemText } from '../../text/system.js';
import { ConnectionFacts } from '../setup/https-step.js';
import { zoneOptions } from '../setup/zone-step.js';
import styles from './system.module.css';

const ZoneSetting = ({ settings, onSaved }: { settings: Settings; onSaved: () => void }) => {
  const [zone, setZone] = useState(settings.time_zone);
  const save = useAction(async () => {
    const after = await api<Settings>('PUT', '/api/settings', { body: { time_zone: zone } });
    await refreshMe();
    toast({ text: systemText('zoneSaved', { zone: cityOf(after.service.time_zone) }) });
    onSaved();
  });
  return (
    <>
      <div class={styles.buttons}>
        <Select
          label={setupText('zoneLabel')}
          options={[{ value: '', label: systemText('machineZone') }, ...zoneOptions(zone)]}
          value={zone}
          onChange={setZone}
        />
        <Button
          kind="primary"
          icon="save"
          isDisabled={save.isBusy || zone === settings.time_zone}
          onClick={() => void save.run()}
        >
          {shellText('save')}
        </Button>
      </div>
      {save.problem === null ? null : <ProblemBox what={systemText('saveFailed')} problem={save.problem} />}
    </>
  );
};

const shown = (value: unknown): string => {
  if (Array.isArray(value)) return value.length === 0 ? '–' : value.join(', ');
  if (typeof value !== 'object' || value === null) return String(value);
  return Object.entries(value)
    .map(([name, each]) => `${name} ${each}`)
    .join(', ');
};

const StartFacts = ({ settings }: { readonly settings: Settings }) => (
  <Panel title={systemText('started')}>
    <p class={styles.note}>{systemText('startedText')}</p>
    <Table caption={systemText('started')} head={[systemText('setting'), systemText('value')]}>
      {Object.entries(settings.service)
        .filter(([name]) => name !== 'https' && name !== 'time_zone')
        .map(([name, value]) => (
          <tr key={name}>
            <td>
              <code>{name.toUpperCase()}</code>
            </td>
            <td>{shown(value)}</td>
          </tr>
        ))}
    </Table>
  </Panel>
);

/** What can be set while the service runs, and how it was started. */
export const SettingsPanels = () => {
  const settings = useLoaded((signal) => api<Settings>('GET', '/api/settings', { signal }));
  if (settings.value === null)
    return settings.problem === null ? (
      <Skeleton />
    ) : (
      <ProblemBox what={systemText('settingsFailed')} problem={settings.problem} onRetry={settings.reload} />
    );
  return (
    <>
      <Panel title={systemText('settings')}>
        <ZoneSetting key={settings.value.time_zone} settings={settings.value} onSaved={settings.reload} />
      </Panel>
      <Panel title={systemText('connection')}>
        <ConnectionFacts settings={settings.value} />
      </Panel>
      <StartFacts settings={settings.value} />
    </>
  );
};
