using System.Buffers.Text;
using System.Globalization;
using System.Text;
using Snapper.Storage.Log;
using StackExchange.Redis;

namespace Snapper.Storage.Redis;

/// <summary>
/// How many replicas must have what is acknowledged, and the command behind a write that asks for them. Without any,
/// nothing is asked.
/// </summary>
/// <remarks>
/// WAIT goes over the connection of the write and behind it, for it waits for what its own connection has written; and
/// the write must be one that replicas are told of, or an answer of before would do. WAITAOF, of Redis 7.2 and later,
/// asks for disks and not for memories: it is used while the server itself flushes before it answers.
/// </remarks>
internal sealed class ReplicaWait
{
    private static readonly Version s_knowsDisks = new(7, 2);
    private readonly byte[] _wait;
    private readonly byte[] _waitForDisk;
    private volatile bool _isForDisk;
    private volatile bool _hasNoDiskWait;

    public ReplicaWait(RedisOptions options)
    {
        Replicas = options.Replicas;
        TimeoutMs = (int)options.ReplicaTimeout.TotalMilliseconds;
        var (replicas, timeout) = (RespText.Bulk(Text(Replicas)), RespText.Bulk(Text(TimeoutMs)));
        _wait = [.. "*3\r\n"u8, .. RespText.Bulk("WAIT"), .. replicas, .. timeout];
        _waitForDisk = [.. "*4\r\n"u8, .. RespText.Bulk("WAITAOF"), .. RespText.Bulk("1"), .. replicas, .. timeout];
    }

    /// <summary>0: nothing is asked.</summary>
    public int Replicas { get; }

    /// <summary>How long the server waits for them.</summary>
    public int TimeoutMs { get; }

    /// <summary>The disks of the replicas are asked for.</summary>
    public bool IsForDisk => _isForDisk && !_hasNoDiskWait;

    /// <summary>The command as it is sent.</summary>
    public byte[] Command(bool isForDisk) => isForDisk ? _waitForDisk : _wait;

    /// <summary>Asks by way of the client library, behind what the batch does.</summary>
    /// <returns>So many have it.</returns>
    /// <exception cref="TooFewReplicasException">They are too few.</exception>
    public async Task<ReplicaCount> Ask(IBatch batch)
    {
        var isForDisk = IsForDisk;
        var asking = isForDisk
            ? batch.ExecuteAsync("WAITAOF", 1, Replicas, TimeoutMs)
            : batch.ExecuteAsync("WAIT", Replicas, TimeoutMs);
        ReplicaCount count;
        try
        {
            var answer = await asking.ConfigureAwait(false);
            count = isForDisk && (int[]?)answer is [var own, var replicas]
                ? new ReplicaCount(own, replicas) : new ReplicaCount(0, (int)answer);
        }
        catch (RedisServerException refusal)
        {
            throw Refused(refusal.Message, isForDisk);
        }

        return Judge(count, isForDisk) is { } tooFew ? throw tooFew : count;
    }

    /// <summary>Takes in what the server says of itself.</summary>
    public void Note(RedisDurability facts) => _isForDisk = facts.Policy == RedisFlushPolicy.Always
        && Version.TryParse(facts.ServerVersion, out var version) && version >= s_knowsDisks;

    /// <summary>What it means that so many have it; null: they are enough.</summary>
    public TooFewReplicasException? Judge(ReplicaCount count, bool isForDisk) =>
        count.Replicas >= Replicas && (!isForDisk || count.Own >= 1) ? null
            : TooFew(string.Create(CultureInfo.InvariantCulture, $"{Had(count, isForDisk)} within {TimeoutMs} ms"));

    /// <summary>What it means that the server gave an error in its place.</summary>
    public TooFewReplicasException Refused(string error, bool isForDisk)
    {
        if (isForDisk)
        {
            _hasNoDiskWait = true; // an older server than before, or no right: the next one asks for memories
        }

        return TooFew($"{(isForDisk ? "WAITAOF (WAIT comes next)" : "WAIT")} was answered by '{error}'");
    }

    private TooFewReplicasException TooFew(string why) =>
        new($"Snapper:Log:Replicas is {Text(Replicas)}, and {why}: it is not acknowledged, and sent again");

    private static string Had(ReplicaCount count, bool isForDisk)
    {
        var replicas = count.Replicas == 1 ? "1 replica" : $"{Text(count.Replicas)} replicas";
        return !isForDisk ? $"{replicas} had the write"
            : count.Own < 1 ? "the primary had not flushed the write itself (WAITAOF)"
            : $"{replicas} had the write on disk (WAITAOF: each needs appendonly yes)";
    }

    private static string Text(int number) => number.ToString(CultureInfo.InvariantCulture);
}

/// <summary>What WAIT or WAITAOF answered.</summary>
/// <param name="Own">Of WAITAOF: 1, the primary has it on disk. Of WAIT: 0.</param>
/// <param name="Replicas">So many replicas have it.</param>
internal readonly record struct ReplicaCount(int Own, int Replicas)
{
    /// <summary>Longest answer in bytes: more means that the two sides are out of step.</summary>
    private const int BytesMax = 64;

    /// <summary>Reads the answer at the beginning of what has arrived.</summary>
    /// <param name="bytes">What has arrived.</param>
    /// <param name="isForDisk">Of WAITAOF: a list of two numbers. Otherwise one number.</param>
    /// <param name="count">The numbers, when they are there as a whole.</param>
    /// <param name="length">Length of the answer in bytes.</param>
    /// <returns>False: not all of it has arrived.</returns>
    /// <exception cref="RespException">These bytes are no such answer, whatever follows.</exception>
    public static bool TryRead(ReadOnlySpan<byte> bytes, bool isForDisk, out ReplicaCount count, out int length)
    {
        count = default;
        length = 0;
        var rest = bytes;
        var own = 0;
        if (isForDisk)
        {
            if (!TryNumber(ref rest, '*', out var parts))
            {
                return false;
            }

            if (parts != 2)
            {
                throw new RespException($"a list of {parts} numbers, not of 2");
            }

            if (!TryNumber(ref rest, ':', out own))
            {
                return false;
            }
        }

        if (!TryNumber(ref rest, ':', out var replicas))
        {
            return false;
        }

        count = new ReplicaCount(own, replicas);
        length = bytes.Length - rest.Length;
        return true;
    }

    private static bool TryNumber(ref ReadOnlySpan<byte> bytes, char kind, out int number)
    {
        number = 0;
        if (bytes.IsEmpty)
        {
            return false;
        }

        if (bytes[0] != kind)
        {
            throw new RespException($"byte 0x{bytes[0]:x2} where '{kind}' begins what WAIT answers");
        }

        var end = bytes.IndexOf((byte)'\n');
        if (end < 0)
        {
            return bytes.Length <= BytesMax ? false : throw new RespException("a number without an end");
        }

        var digits = bytes[1..end];
        if (!digits.EndsWith("\r"u8) || !Utf8Parser.TryParse(digits[..^1], out number, out var used)
            || used != digits.Length - 1 || number < 0)
        {
            throw new RespException($"'{Encoding.ASCII.GetString(digits)}' where a number of replicas should be");
        }

        bytes = bytes[(end + 1)..];
        return true;
    }
}
