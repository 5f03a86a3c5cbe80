import { totalmem } from 'node:os';

/** The memory that this process may use: the machine's, or what a container is limited to. */
export const machineMemoryBytes = (
  totalBytes = totalmem(),
  /** 0 where the system doesn't tell, more than there is where it knows no limit. */
  constrainedBytes = process.constrainedMemory(),
): number => (constrainedBytes > 0 ? Math.min(totalBytes, constrainedBytes) : totalBytes);
