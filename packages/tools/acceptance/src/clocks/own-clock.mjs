// Loaded into every Node.js process of a stack by NODE_OPTIONS. From here on, libfaketime reads the clock of this
// process from the file that is named after its package. PostgreSQL reads the one of the launcher, which starts it.
import { basename, dirname, join } from 'node:path';
import process from 'node:process';

const { CLOCKS_FOLDER } = process.env;
const name = basename(dirname(dirname(process.argv[1] ?? '')));
if (CLOCKS_FOLDER) process.env.FAKETIME_TIMESTAMP_FILE = join(CLOCKS_FOLDER, name);
