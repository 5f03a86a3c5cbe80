import { signal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import { outage } from '../../data/connection.js';
import { tabStorage } from '../../data/storage.js';
import { Button } from '../../parts/button.js';
import { Dialog } from '../../parts/dialog.js';
import { Banner } from '../../parts/states.js';
import { livePlayer } from '../../player/live-player.js';
import { monotonicMs } from '../../player/monotonic.js';
import { wallText } from '../../text/wall.js';

const DISMISSED = 'insecure-dismissed';
const isDismissed = signal(tabStorage.get(DISMISSED) === '1');

const waysOut = () => [
  wallText('insecureLocalhost'),
  wallText('insecureTls'),
  wallText('insecureSelf'),
  wallText('insecureProxy'),
];

/** Plain http: what that costs, said once, with the ways out. */
const InsecureBanner = () => {
  const [isOpen, setIsOpen] = useState(false);
  if (isSecureContext || isDismissed.value) return null;
  const dismiss = (): void => {
    tabStorage.set(DISMISSED, '1');
    isDismissed.value = true;
  };
  return (
    <>
      <Banner
        tone="warn"
        action={<Button onClick={() => setIsOpen(true)}>{wallText('insecureMore')}</Button>}
        onDismiss={dismiss}
      >
        {wallText('insecureTitle')}
      </Banner>
      {isOpen ? (
        <Dialog title={wallText('insecureMore')} onClose={() => setIsOpen(false)}>
          <ol>
            {waysOut().map((way) => (
              <li key={way}>{way}</li>
            ))}
          </ol>
        </Dialog>
      ) : null}
    </>
  );
};

/** A wall without its socket says when it tries again. */
const SocketBanner = () => {
  const state = livePlayer().socket.value;
  const untilMs = state.state === 'waiting' ? state.untilMs : 0;
  const [leftSec, setLeftSec] = useState(0);
  const [isLong, setIsLong] = useState(false);
  const isOpen = state.state === 'open';
  useEffect(() => {
    const look = (): void => setLeftSec(Math.max(1, Math.ceil((untilMs - monotonicMs()) / 1_000)));
    look();
    const timer = setInterval(look, 500);
    return () => clearInterval(timer);
  }, [untilMs]);
  useEffect(() => {
    setIsLong(false);
    if (isOpen) return;
    const timer = setTimeout(() => setIsLong(true), 1_500);
    return () => clearTimeout(timer);
  }, [isOpen]);
  // That the service doesn't answer at all is told over every page.
  if (isOpen || !isLong || outage.value !== null) return null;
  const text =
    state.state === 'blocked'
      ? wallText('socketBlocked')
      : state.state === 'waiting'
        ? wallText('socketWaiting', { seconds: leftSec })
        : wallText('socketConnecting');
  return (
    <Banner
      tone="warn"
      icon="offline"
      action={<Button onClick={() => livePlayer().retry()}>{wallText('retryNow')}</Button>}
    >
      {text}
    </Banner>
  );
};

/** Parts of the page are gone from the service, which has another version by now. */
const OutdatedBanner = () =>
  livePlayer().isOutdated.value ? (
    <Banner
      tone="warn"
      icon="refresh"
      action={<Button onClick={() => location.reload()}>{wallText('reload')}</Button>}
    >
      {wallText('outdated')}
    </Banner>
  ) : null;

export const Banners = () => (
  <>
    <OutdatedBanner />
    <InsecureBanner />
    <SocketBanner />
  </>
);
