import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import type { Search } from '../lib/search-params.ts';

/** The query of the address. */
export const useAddress = (): Search => useSearch({ strict: false });

/** Changes the query of the address, and nothing else of it. */
export const useSetAddress = (): ((search: Search) => void) => {
  const navigate = useNavigate();
  return (search) => void navigate({ to: '.', search });
};

/** The part of the path that names what a page shows. */
export const useParam = (name: string): string => {
  const params: Record<string, string> = useParams({ strict: false });
  return params[name] ?? '';
};
