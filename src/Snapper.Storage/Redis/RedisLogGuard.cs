using StackExchange.Redis;

namespace Snapper.Storage.Redis;

/// <summary>The opening of a worker's own log: what proves, in a script, that the worker is not fenced.</summary>
/// <param name="Meta">Key of the log's hash.</param>
/// <param name="Epoch">Epoch of the opening.</param>
/// <param name="Mark">Mark of the opening.</param>
internal sealed record RedisLogGuard(RedisKey Meta, long Epoch, string Mark);
