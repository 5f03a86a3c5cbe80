import { isLoopback } from '../base/client-address.js';

const isOfThisMachine = (host: string): boolean => host === 'localhost' || isLoopback(host);

/** Why no other box can ask for this one's pictures, as far as that follows from how it is set; null: they can. */
export const whyOutOfReach = ({
  boxAddress,
  relayHost,
}: {
  readonly boxAddress: string | null;
  readonly relayHost: string;
}): string | null => {
  if (boxAddress === null) return 'BOX_ADDRESS is not set: the others are not told where this one is';
  const told = new URL(boxAddress).hostname.replace(/^\[|\]$/g, '');
  return isOfThisMachine(relayHost) && !isOfThisMachine(told)
    ? `RELAY_HOST, or HOST, is ${relayHost}: nobody elsewhere reaches RELAY_PORT there`
    : null;
};
