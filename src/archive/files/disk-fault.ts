/** The system's code of what was thrown; '': it has none. */
export const codeOf = (fault: unknown): string => (fault as NodeJS.ErrnoException | null)?.code ?? '';

/** Whether there is no room, on the disk or for whom we are. */
export const isDiskFull = (fault: unknown): boolean => ['ENOSPC', 'EDQUOT'].includes(codeOf(fault));
