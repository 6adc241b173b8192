/** One JSON-RPC call. Throws Error with the message of the node. */
export type RpcCall = <T = unknown>(method: string, ...params: unknown[]) => Promise<T>;

/** Calls to a node by its URL, which may contain a user name and a password. */
export const rpcClient = (url: string): RpcCall => {
  const { origin, pathname, search, username, password } = new URL(url);
  const authorization = username && { authorization: `Basic ${btoa(`${username}:${password}`)}` };
  return async <T>(method: string, ...params: unknown[]): Promise<T> => {
    const response = await fetch(`${origin}${pathname}${search}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...authorization },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
    const answer = (await response.json()) as { result?: T; error?: { message: string } | null };
    if (answer.error) throw new Error(`${method}: ${answer.error.message}`);
    return answer.result as T;
  };
};
