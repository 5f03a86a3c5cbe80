import { useEffect, useMemo, useState } from 'preact/hooks';
import { cameras, loadCameras } from '../../../data/cameras.js';
import { discoverDevices, probeDevice } from '../../../data/onvif.js';
import { asProblem } from '../../../data/problem.js';
import { api } from '../../../data/session.js';
import { toast } from '../../../parts/toasts.js';
import { useAction, useLoaded } from '../../../parts/use-action.js';
import { findText } from '../../../text/find-cameras.js';
import {
  type Chosen,
  type Device,
  isFit,
  isHere,
  knownAs,
  newCameras,
  offerKey,
  type Probe,
  typedDevice,
} from './found.js';

/** As many as the service asks at a time. */
const AT_ONCE = 3;

const failed = (detail: string): Probe => ({
  step: 'done',
  result: { ok: false, code: 'not_asked', detail, device: null, remarks: [], profiles: [], cameras: [] },
});

/** All that the dialog knows: who answered, what they said of themselves, and which are to be added. */
export const useFind = (folderId: string, onDone: () => void) => {
  const search = useLoaded(discoverDevices);
  const [typed, setTyped] = useState<readonly Device[]>([]);
  const [login, setLogin] = useState({ user: '', password: '' });
  const [picked, setPicked] = useState<ReadonlyMap<string, boolean>>(new Map());
  const [probes, setProbes] = useState<ReadonlyMap<string, Probe>>(new Map());
  const [taken, setTaken] = useState<ReadonlyMap<string, boolean>>(new Map());
  const gone = useMemo(() => new AbortController(), []);
  useEffect(() => () => gone.abort(), []);

  const devices = [...typed, ...(search.value?.devices ?? [])].map((device) => ({
    device,
    known: knownAs(device.host, cameras.value?.values() ?? []),
    probe: probes.get(device.address) ?? null,
  }));
  const isPicked = ({ device, known, probe }: (typeof devices)[number]): boolean =>
    picked.get(device.address) ?? (known === '' && !(probe?.step === 'done' && probe.result.ok));
  const wanted = devices.filter((each) => isPicked(each) && each.probe?.step !== 'asking');
  const isTaken = (address: string, index: number, offer: Chosen['offer']): boolean =>
    taken.get(offerKey(address, index)) ?? (isFit(offer) && !isHere(offer, cameras.value?.values() ?? []));
  const chosen = devices.flatMap(({ device, probe }): Chosen[] =>
    probe?.step === 'done'
      ? probe.result.cameras
          .filter((offer, index) => isTaken(device.address, index, offer))
          .map((offer) => ({ device, result: probe.result, offer }))
      : [],
  );

  const put = (address: string, probe: Probe): void =>
    setProbes((before) => new Map([...before, [address, probe]]));
  const askOne = async ({ address }: Device): Promise<void> => {
    put(address, { step: 'asking' });
    try {
      const result = await probeDevice(
        { address, username: login.user, password: login.password },
        gone.signal,
      );
      put(address, { step: 'done', result });
      if (result.ok) setPicked((before) => new Map([...before, [address, false]]));
    } catch (fault) {
      if (!gone.signal.aborted) put(address, failed(asProblem(fault).detail));
    }
  };
  const ask = async (): Promise<void> => {
    const queue = wanted.map(({ device }) => device);
    const work = async (): Promise<void> => {
      for (let next = queue.shift(); next !== undefined; next = queue.shift()) await askOne(next);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
  };
  const save = useAction(async () => {
    const create = newCameras(chosen, cameras.peek()?.keys() ?? [], folderId);
    await api('POST', '/api/cameras/bulk', { body: { create } });
    await loadCameras();
    toast({ text: create.length === 1 ? findText('addedOne') : findText('added', { count: create.length }) });
    onDone();
  });
  return {
    ...{ search, devices, wanted, chosen, login, setLogin, isPicked, isTaken, ask, save },
    pick: (address: string, is: boolean) => setPicked(new Map([...picked, [address, is]])),
    take: (key: string, is: boolean) => setTaken(new Map([...taken, [key, is]])),
    type: (address: string) => {
      if (address.trim() === '') return;
      const device = typedDevice(address);
      setTyped([...typed.filter((other) => other.address !== device.address), device]);
      setPicked(new Map([...picked, [device.address, true]]));
    },
  };
};
