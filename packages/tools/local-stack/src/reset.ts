import { LaunchError, readConfig } from './config.ts';
import { emptyDataFolder } from './data/folder.ts';

try {
  const { DATA_DIR } = readConfig(process.env);
  await emptyDataFolder(DATA_DIR);
  process.stdout.write(`deleted all data in ${DATA_DIR}\n`);
} catch (error) {
  process.exitCode = 1;
  process.stderr.write(`${error instanceof LaunchError ? error.message : (error as Error).stack}\n`);
}
