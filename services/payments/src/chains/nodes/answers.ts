import { z } from 'zod';
import { ChainNodeError } from '../chain-source.ts';
import type { RpcNode } from './json-rpc.ts';

/** A list, read up to its first invalid item: one report for each of millions would take gigabytes. */
export const listOf = <T>(item: z.ZodType<T>) =>
  z.array(z.unknown()).transform((items, context): T[] => {
    const list: T[] = [];
    for (const [index, each] of items.entries()) {
      const { success, data, error } = item.safeParse(each);
      if (!success) {
        context.addIssue({ code: 'custom', path: [index, ...error.issues[0]!.path] });
        return z.NEVER;
      }
      list.push(data);
    }
    return list;
  });

/** The answer in its form. Throws ChainNodeError that names the node and the first invalid field. */
export const checkedAnswer = <T>(node: RpcNode, method: string, form: z.ZodType<T>, answer: unknown): T => {
  const { success, data, error } = form.safeParse(answer);
  if (success) return data;
  const path = error.issues[0]!.path.join('.');
  throw new ChainNodeError('malformed', `node ${node.number}, ${method}: ${path || 'the answer'} is invalid`);
};

/** Throws ChainNodeError if an answer contradicts the question or another answer. */
export const requireMatch = (condition: boolean, node: RpcNode, method: string, why: string): void => {
  if (!condition) throw new ChainNodeError('mismatch', `node ${node.number}, ${method}: ${why}`);
};
