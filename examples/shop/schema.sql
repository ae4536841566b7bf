create table if not exists orders (id serial primary key, placed timestamptz not null default now());
