import type { JetStreamManager, StreamInfo } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';

const REPLICAS = 3;

/** How many servers are to have a bucket: a server alone can only keep one copy. */
export const replicasAt = ({ info }: NatsConnection): number => (info?.cluster === undefined ? 1 : REPLICAS);

/** Has more servers keep a bucket that fewer have than could; answers it as it is then. */
export const withReplicas = async (
  { manager, connection }: { readonly manager: JetStreamManager; readonly connection: NatsConnection },
  found: StreamInfo,
): Promise<StreamInfo> => {
  const wanted = replicasAt(connection);
  const { config } = found;
  if (config.num_replicas >= wanted) return found;
  try {
    return await manager.streams.update(config.name, { ...config, num_replicas: wanted });
  } catch {
    // Some are away, or there are fewer: what there is goes on as it is.
    return found;
  }
};
