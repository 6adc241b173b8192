import { join } from 'node:path';
import { runDeadLetterCommand } from '@cpg/kafka';
import { runAdminCommand } from '@cpg/stream-relay';
import { orderProjection } from './projections/order-projection.ts';

const [noun, ...args] = process.argv.slice(2);

process.exitCode =
  noun === 'dlq'
    ? await runDeadLetterCommand(args, process.env)
    : await runAdminCommand({
        args: process.argv.slice(2),
        env: process.env,
        projectionOf: orderProjection,
        migrations: join(import.meta.dirname, '../migrations'),
      });
