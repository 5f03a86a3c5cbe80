import { hasLetterKeys } from '../../data/keys.js';
import { setPreferences } from '../../data/preferences.js';
import { me, signOut } from '../../data/session.js';
import { type Theme, theme } from '../../data/theme.js';
import { isOwnZoneWanted, mayUseOwnZone, zoneName } from '../../data/time.js';
import { wrongByMinutes } from '../../data/wrong-clock.js';
import { Button } from '../../parts/button.js';
import { PageBody, Panel } from '../../parts/page-head.js';
import { ProblemBox } from '../../parts/problem-box.js';
import { Segmented } from '../../parts/segmented.js';
import { Badge } from '../../parts/states.js';
import { toast } from '../../parts/toasts.js';
import { useAction } from '../../parts/use-action.js';
import { meText, roleText } from '../../text/me.js';
import type { PageProps } from '../table.js';
import { Browsers } from './browsers.js';
import styles from './me.module.css';
import { PasswordForm } from './password-form.js';
import { wrongClockText } from './wrong-clock-text.js';

const Account = () => {
  const leave = useAction(signOut);
  if (me.value === null) return null;
  const { username, role } = me.value;
  return (
    <Panel title={meText('account')}>
      <div class={styles.row}>
        <p class={styles.who}>
          {meText('signedInAs', { name: username })}
          <Badge icon="user" tone="accent" title={roleText(`${role}Hint`)}>
            {roleText(role)}
          </Badge>
        </p>
        <Button icon="signOut" isDisabled={leave.isBusy} onClick={() => void leave.run()}>
          {meText('signOut')}
        </Button>
      </div>
      {leave.problem === null ? null : <ProblemBox what={meText('signOut')} problem={leave.problem} />}
    </Panel>
  );
};

const Appearance = () => (
  <Panel title={meText('appearance')}>
    <div class={styles.row}>
      <span>{meText('theme')}</span>
      <Segmented<Theme>
        label={meText('theme')}
        choices={[
          { value: 'system', label: meText('system'), icon: 'system' },
          { value: 'dark', label: meText('dark'), icon: 'moon' },
          { value: 'light', label: meText('light'), icon: 'sun' },
        ]}
        value={theme.value}
        onChange={(value) => {
          theme.value = value;
        }}
      />
    </div>
    <p>{meText('zone', { zone: zoneName.value })}</p>
    {wrongByMinutes.value === 0 ? null : <p>{wrongClockText(wrongByMinutes.value)}</p>}
    {mayUseOwnZone.value ? (
      <label class={styles.check}>
        <input
          type="checkbox"
          checked={isOwnZoneWanted.value}
          onChange={(event) => {
            isOwnZoneWanted.value = event.currentTarget.checked;
          }}
        />
        {meText('ownZone')}
      </label>
    ) : null}
  </Panel>
);

const Keys = () => {
  const keep = useAction((letterKeys: boolean) => setPreferences({ letterKeys }));
  return (
    <Panel title={meText('keys')}>
      <label class={styles.check}>
        <input
          type="checkbox"
          name="letter-keys"
          checked={hasLetterKeys.value}
          onChange={(event) => void keep.run(event.currentTarget.checked)}
        />
        {meText('letterKeys')}
      </label>
      <p class={styles.hint}>{meText('letterKeysHint')}</p>
      {keep.problem === null ? null : <ProblemBox what={meText('keysFailed')} problem={keep.problem} />}
    </Panel>
  );
};

const Help = () => (
  <Panel title={meText('help')}>
    <ul class={styles.help}>
      <li>
        <a href="/docs">{meText('guide')}</a>
      </li>
      <li>
        <a href="/api/docs">{meText('reference')}</a>
      </li>
    </ul>
  </Panel>
);

/** Who is signed in, their password, and what they like. */
export const page = (_props: PageProps) => (
  <PageBody title={meText('title')} isNarrow>
    <Account />
    <Panel title={meText('password')}>
      <PasswordForm
        known={null}
        action={meText('change')}
        onDone={() => toast({ text: meText('changed') })}
      />
    </Panel>
    <Browsers />
    <Appearance />
    <Keys />
    <Help />
  </PageBody>
);
