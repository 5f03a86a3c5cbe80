import { App } from './app.js';
import { systemClock } from './base/clock.js';
import { AppError, messageOf } from './base/errors.js';
import { exitProcess } from './base/exit-process.js';
import { ownVersion } from './base/own-version.js';
import { spawnCameraWorker } from './camera/fleet/worker-thread.js';
import { type Config, readConfig } from './config.js';
import { LogHub } from './ops/log-hub.js';
import { createProcessLog, type ProcessLog } from './ops/process-log.js';

const EXIT_FAULT = 1;
const EXIT_BAD_CONFIG = 2;

/** All parts of a stop have shorter bounds of their own; past this something hangs. */
const STOP_DEADLINE_MS = 9_500;
/** In a cluster the others take the cameras first (cluster/cluster.ts). */
const HAND_OVER_MS = 8_000;

/** What kept the service from starting, for the person who started it, in one line. */
const refuse = (fault: unknown): never => {
  process.stderr.write(`framering can't start: ${messageOf(fault)}\n`);
  const isConfig = fault instanceof AppError && fault.code === 'bad_config';
  process.exit(isConfig ? EXIT_BAD_CONFIG : EXIT_FAULT);
};

const LINE = '-'.repeat(60);

const showAdmin = ({ username, password }: { username: string; password: string }): void => {
  process.stdout.write(
    `${LINE}\nThis is the first start, so an administrator was made:\n\nusername: ${username}\n` +
      `password: ${password}\n\nThis is shown once. Log in and change the password now.\n${LINE}\n`,
  );
};

/** What comes next, for the person who has just been shown the password. */
const showWhere = ({ url }: App, { dataDir, archiveDir }: Config): void => {
  process.stdout.write(
    `${LINE}\nOpen ${url} in a browser.\n\nCameras and users are kept in ${dataDir},\n` +
      `recordings in ${archiveDir}.\n${LINE}\n`,
  );
};

/** Nothing may go on after a fault that nobody expected: whoever started us starts us again. */
const exitOnUnexpected = ({ log, flush }: ProcessLog): void => {
  const onFault = (kind: string) => (fault: unknown) => {
    log.error(kind, { fault: fault instanceof Error ? fault.stack : String(fault) });
    flush();
    process.exit(EXIT_FAULT);
  };
  process.on('uncaughtException', onFault('uncaught exception'));
  process.on('unhandledRejection', onFault('unhandled rejection'));
};

/** Also while the service is still starting: then it stops as soon as it has started. */
const stopOnSignal = (starting: Promise<App>, { log, flush }: ProcessLog): void => {
  let isStopping = false;
  const stop = async (signal: string): Promise<void> => {
    if (isStopping) return;
    isStopping = true;
    log.info('stopping', { signal });
    setTimeout(
      () => {
        log.error('the service did not stop in time');
        flush();
        exitProcess(EXIT_FAULT);
      },
      STOP_DEADLINE_MS + (config.cluster === null ? 0 : HAND_OVER_MS),
    );
    await (await starting).stop();
    log.info('stopped');
    flush();
    exitProcess(0);
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, (name) => void stop(name));
};

/** Whoever waits for this line waits whatever LOG_LEVEL is. */
const announce = (app: App, { log }: ProcessLog, level: Config['logLevel']): void => {
  const { url, metricsUrl, rtspUrl, rtspsUrl } = app;
  const fields = {
    ...{ url, metrics_url: metricsUrl },
    ...(rtspUrl === null ? {} : { rtsp_url: rtspUrl }),
    ...(rtspsUrl === null ? {} : { rtsps_url: rtspsUrl }),
  };
  if (['trace', 'debug', 'info'].includes(level)) {
    log.info('listening', fields);
    return;
  }
  const record = { level: 'info', time: new Date().toISOString(), ...fields, msg: 'listening' };
  process.stdout.write(`${JSON.stringify(record)}\n`);
};

const configOrRefuse = (): Config => {
  try {
    return readConfig(process.env);
  } catch (fault) {
    return refuse(fault);
  }
};

const config = configOrRefuse();
const hub = new LogHub();
const processLog = createProcessLog({ level: config.logLevel }, { hub });
exitOnUnexpected(processLog);
let isFirstStart = false;
const starting = App.start(config, {
  clock: systemClock,
  log: processLog.log,
  audit: processLog.audit,
  hub,
  version: ownVersion(),
  spawn: spawnCameraWorker,
  showAdmin: (account) => {
    isFirstStart = true;
    showAdmin(account);
  },
});
stopOnSignal(starting, processLog);
try {
  const app = await starting;
  announce(app, processLog, config.logLevel);
  if (isFirstStart) showWhere(app, config);
} catch (fault) {
  processLog.flush();
  refuse(fault);
}
