import { Icon } from '../../../parts/icon.js';
import { findText } from '../../../text/find-cameras.js';
import { TestResult } from '../many/test-result.js';
import styles from './find.module.css';
import { type Device, type Offer, offerKey, type Probe } from './found.js';
import type { useFind } from './use-find.js';

type Find = ReturnType<typeof useFind>;

const Stream = ({ offer, isSub }: { readonly offer: Offer; readonly isSub: boolean }) => {
  const stream = isSub ? offer.sub : offer.main;
  if (stream === null) return null;
  if (stream.test === null) return <small>{findText('untested')}</small>;
  return <TestResult state={{ step: 'done', result: stream.test }} isSub={isSub} />;
};

const OfferRow = ({
  find,
  address,
  index,
  offer,
  name,
}: {
  readonly find: Find;
  readonly address: string;
  readonly index: number;
  readonly offer: Offer;
  readonly name: string;
}) => (
  <li class={styles.offer}>
    <label>
      <input
        type="checkbox"
        checked={find.isTaken(address, index, offer)}
        onChange={(event) => find.take(offerKey(address, index), event.currentTarget.checked)}
      />
      {findText('take', { name })}
      {offer.ptz ? <small> · {findText('moves')}</small> : null}
    </label>
    <div class={styles.streams}>
      <Stream offer={offer} isSub={false} />
      <Stream offer={offer} isSub />
    </div>
  </li>
);

const Answer = ({
  find,
  device,
  probe,
}: {
  readonly find: Find;
  readonly device: Device;
  readonly probe: Probe;
}) => {
  if (probe.step === 'asking')
    return (
      <p class={styles.busy} role="status">
        <Icon name="refresh" /> {findText('asking')}
      </p>
    );
  const { ok, detail, cameras, remarks, device: is } = probe.result;
  if (!ok)
    return (
      <p class={styles.bad} role="alert">
        <Icon name="warning" /> <span>{detail}</span>
      </p>
    );
  const name = [is?.manufacturer, is?.model].filter(Boolean).join(' ') || device.host;
  return (
    <>
      <ul class={styles.offers}>
        {cameras.map((offer, index) => (
          <OfferRow
            key={offer.main.profile}
            {...{ find, address: device.address, index, offer }}
            name={offer.name || name}
          />
        ))}
      </ul>
      {remarks.map((remark) => (
        <p key={remark} class={styles.remark}>
          <Icon name="info" /> <span>{remark}</span>
        </p>
      ))}
    </>
  );
};

/** One device on the list, and what it said of itself. */
export const FindDevice = ({
  find,
  each,
}: {
  readonly find: Find;
  readonly each: Find['devices'][number];
}) => {
  const { device, known, probe } = each;
  const name = device.name || device.host;
  return (
    <li class={styles.device}>
      <label class={styles.who}>
        <input
          type="checkbox"
          checked={find.isPicked(each)}
          disabled={probe?.step === 'asking'}
          aria-label={findText('choose', { name })}
          onChange={(event) => find.pick(device.address, event.currentTarget.checked)}
        />
        <span>
          <strong>{name}</strong>
          <small>
            {[device.hardware, device.host, known === '' ? '' : findText('known', { id: known })]
              .filter((text) => text !== '' && text !== name)
              .join(' · ')}
          </small>
        </span>
      </label>
      {probe === null ? null : <Answer {...{ find, device, probe }} />}
    </li>
  );
};
