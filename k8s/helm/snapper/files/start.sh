# Writes the access control list with the hash of the password, which is in no command line, variable or log, and becomes redis-server.
set -eu
umask 077
password=$(cat /run/secrets/snapper-redis/password)
if [ -z "$password" ]; then
  echo "The secret snapper-redis has no password." >&2
  exit 2
fi
hash=$(printf %s "$password" | sha256sum)
printf 's/ PASSWORD / #%s /\n' "${hash%% *}" | sed -f /dev/stdin /etc/snapper-redis/users.acl > /run/snapper-redis/users.acl
exec redis-server /etc/snapper-redis/redis.conf "$@"
