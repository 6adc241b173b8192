import { eventStoreOptions } from '@cpg/platform';

export interface ConnectionString {
  readonly hosts: readonly { readonly host: string; readonly port: number }[];
  /** Null without credentials. */
  readonly user: string | null;
  readonly tls: boolean;
  readonly tlsCAFile: string | null;
}

const DEFAULT_PORT = 2113;

/** The parts of an `esdb://` address that matter for a diagnosis, read as the client reads them. */
export const parseConnectionString = (url: string): ConnectionString => {
  const [, user = null, hosts = ''] = /^[^:]+:\/\/(?:([^:@]+):[^@]*@)?([^?]*)/.exec(url) ?? [];
  const options = eventStoreOptions(url);
  const caFile = options.get('tlscafile');
  return {
    hosts: hosts
      .split(/[,/]/)
      .filter((host) => host !== '')
      .map((host) => {
        const [name = '', port] = host.split(':');
        return { host: name, port: Number(port ?? DEFAULT_PORT) };
      }),
    user: user && decodeURIComponent(user),
    tls: options.get('tls') !== 'false',
    tlsCAFile: caFile === undefined ? null : decodeURIComponent(caFile),
  };
};
