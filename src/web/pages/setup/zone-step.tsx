import { useState } from 'preact/hooks';
import { serviceNowMs } from '../../data/service-clock.js';
import { api, me, refreshMe } from '../../data/session.js';
import { clockText } from '../../data/zones.js';
import { Button } from '../../parts/button.js';
import { ProblemBox } from '../../parts/problem-box.js';
import { Select } from '../../parts/select.js';
import { useAction } from '../../parts/use-action.js';
import { setupText } from '../../text/setup.js';
import styles from './setup.module.css';

const ownZone = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Every zone that this browser knows, and those that count already, by whatever name. */
export const zoneOptions = (...known: readonly string[]) =>
  [...new Set([...Intl.supportedValuesOf('timeZone'), 'UTC', ...known])]
    .filter((name) => name !== '')
    .sort()
    .map((name) => ({ value: name, label: name.replaceAll('_', ' ') }));

export const ZoneStep = ({ onDone }: { readonly onDone: () => void }) => {
  const [zone, setZone] = useState(ownZone);
  const keep = useAction(async () => {
    if (zone !== me.value?.time_zone) {
      await api('PUT', '/api/settings', { body: { time_zone: zone } });
      await refreshMe();
    }
    onDone();
  });
  return (
    <>
      <p>{setupText('zoneText')}</p>
      <Select
        label={setupText('zoneLabel')}
        options={zoneOptions(zone, me.value?.time_zone ?? 'UTC')}
        value={zone}
        onChange={setZone}
      />
      <p class={styles.muted}>
        {setupText('zoneNow', { time: clockText(serviceNowMs(), zone, { hasSeconds: false }) })}
      </p>
      {keep.problem === null ? null : <ProblemBox what={setupText('zoneFailed')} problem={keep.problem} />}
      <p class={styles.buttons}>
        <Button kind="primary" isDisabled={keep.isBusy} onClick={() => void keep.run()}>
          {setupText('next')}
        </Button>
      </p>
    </>
  );
};
