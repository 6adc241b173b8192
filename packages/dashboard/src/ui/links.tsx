import { Anchor, type AnchorProps, Button, type ButtonProps } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { pageOfList } from '../lib/filters.ts';

interface Target {
  /** A path of the dashboard, without `/dashboard`. */
  readonly to: string;
  readonly search?: object | undefined;
  readonly children: ReactNode;
}

/** A link to a page of the dashboard. */
export const PageLink = ({ to, search = {}, children, ...rest }: Target & AnchorProps) => (
  <Anchor {...rest} renderRoot={(props) => <Link {...props} to={to} search={search} />}>
    {children}
  </Anchor>
);

/** A link to a page of the dashboard that looks like a button. */
export const ButtonLink = ({ to, search = {}, children, ...rest }: Target & ButtonProps) => (
  <Button {...rest} renderRoot={(props) => <Link {...props} to={to} search={search} />}>
    {children}
  </Button>
);

interface ListLinkProps {
  /** A request of the API. Nothing is linked without one, or without a page that shows it. */
  readonly list: string | undefined;
  readonly children: ReactNode;
}

/** A number that leads to the list that makes it up. */
export const ListLink = ({ list, children }: ListLinkProps) => {
  const place = list === undefined ? undefined : pageOfList(list);
  return place ? <PageLink {...place}>{children}</PageLink> : children;
};
