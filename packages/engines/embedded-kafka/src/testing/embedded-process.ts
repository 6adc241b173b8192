import { testDatabase } from '@cpg/platform/postgres/testing';
import { freePort } from '@cpg/ports';
import type { BrokerProcess } from './broker-process.ts';
import { until } from './cluster.ts';
import { type Program, buildMain, run } from './process.ts';

/** Starts the program of this package on a free port, with its own database. */
export const startEmbeddedKafka = async (): Promise<BrokerProcess> => {
  const [built, database, port] = [await buildMain(), await testDatabase(), await freePort()];
  const brokers = `127.0.0.1:${port}`;
  const launch = async (): Promise<Program> => {
    const program = run(built.main, { KAFKA_DATABASE_URL: database.url, KAFKA_PORT: String(port) });
    await until(() => program.output().includes(`ready on ${brokers}`));
    return program;
  };
  let program = await launch();
  const end = async (signal: NodeJS.Signals) => {
    program.process.kill(signal);
    await program.ended;
  };
  return {
    brokers,
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
    start: async () => {
      program = await launch();
    },
    remove: async () => {
      await end('SIGKILL');
      await built.remove();
      await database.drop();
    },
  };
};
