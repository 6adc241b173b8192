-- Which pepper the secret is hashed with. Null: not known, a version that had only one pepper hashed it, or the algorithm uses none.
alter table api_keys add column pepper_id text;
