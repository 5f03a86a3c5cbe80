# Node 24 is the current LTS. The first stage has compilers for better-sqlite3, should no prebuilt one fit.
FROM node:24-slim AS build
WORKDIR /app
# hadolint ignore=DL3008 # The base image moves, and takes its packages' versions with it.
RUN apt-get update && apt-get install -y --no-install-recommends python3 make g++ && rm -rf /var/lib/apt/lists/*
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY tsconfig.json README.md ./
COPY src ./src
COPY workers ./workers
RUN npm run build && npm prune --omit=dev

FROM node:24-slim AS runtime
WORKDIR /app
RUN mkdir /data && chown 1000:1000 /data
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
USER 1000:1000
# More threads for files and DNS than four: a disk that hangs holds some of them. Memory that was needed for a moment goes
# back to the system, instead of staying in pieces.
ENV NODE_ENV=production DATA_DIR=/data UV_THREADPOOL_SIZE=16 \
    GLIBC_TUNABLES=glibc.malloc.arena_max=2:glibc.malloc.mmap_threshold=131072:glibc.malloc.trim_threshold=262144
VOLUME /data
EXPOSE 8080 9090 50000/udp
# Over the monitoring port, which never speaks TLS; where that has an address of its own, there.
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
  CMD ["node", "-e", "const { METRICS_HOST, HOST, METRICS_PORT } = process.env; const host = (METRICS_HOST || HOST || '').replace(/^(0\\.0\\.0\\.0|::)?$/, '127.0.0.1').replace(/^.*:.*$/, '[$&]'); fetch(`http://${host}:${METRICS_PORT || 9090}/livez`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
STOPSIGNAL SIGTERM
# The program itself is process 1: the signal reaches it, and nothing stands between.
CMD ["node", "dist/src/main.js"]

# `docker build --target with-ffmpeg .` for detection and snapshots: they alone need it, and it is most of an image.
FROM runtime AS with-ffmpeg
USER 0:0
# hadolint ignore=DL3008
RUN apt-get update && apt-get install -y --no-install-recommends ffmpeg && rm -rf /var/lib/apt/lists/*
USER 1000:1000

FROM runtime
