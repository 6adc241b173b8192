import type { z } from 'zod';
import { ChainNodeError } from './chain-source.ts';
import type { RpcNode } from './json-rpc.ts';

/** The answer in its form. Throws ChainNodeError that names the node and the first invalid field. */
export const checkedAnswer = <T>(node: RpcNode, method: string, form: z.ZodType<T>, answer: unknown): T => {
  const { success, data, error } = form.safeParse(answer);
  if (success) return data;
  const path = error.issues[0]!.path.join('.');
  throw new ChainNodeError('malformed', `node ${node.number}, ${method}: ${path || 'the answer'} is invalid`);
};
