using System.Globalization;
using Snapper.Protocol.Identity;
using Snapper.Runtime.Door;
using Snapper.Runtime.Execution;
using Snapper.Runtime.Requests;
using Snapper.Runtime.Tests.Support;
using Xunit;

namespace Snapper.Runtime.Tests;

/// <summary>I2, I3: the ids that a worker keeps have a bound, and their memory comes back with their time.</summary>
public sealed class RequestIdsTests
{
    private const long TicksOfASecond = 1000;
    private const long Minute = 60 * TicksOfASecond;

    private static readonly Step[] s_steps = [Step.Add(), Step.Get()];

    [Fact]
    public void An_id_is_found_with_what_was_kept_last_until_its_minute_is_forgotten()
    {
        var random = new Random(7);
        var index = Index();
        var expected = new Dictionary<UInt128, (KeptOutcome Kept, long Minute)>();
        for (var minute = 0L; minute < 40; minute++)
        {
            for (var i = 0; i < 3_000; i++)
            {
                var key = Key(random.Next(200_000));
                var kept = new KeptOutcome(Key(random.Next()), random.Next());
                index.End(key, null, kept, (minute * Minute) + random.Next((int)Minute));
                expected[key] = (kept, minute);
            }

            index.Forget((minute - 10) * Minute);
            foreach (var (key, (kept, at)) in expected)
            {
                Assert.Equal(at >= minute - 10, index.TryFind(key, out _, out var found));
                Assert.Equal(at >= minute - 10 ? kept : default, found);
            }
        }
    }

    [Fact]
    public async Task A_new_id_beyond_the_limit_is_refused_and_a_known_one_is_answered()
    {
        var time = new SkewedTime();
        var options = new WorkerOptions { MaxRequestIds = 3, DrainTimeout = TimeSpan.FromSeconds(1) };
        await using var rig = await Rig.Start(options, time: time);
        for (var i = 0; i < 3; i++)
        {
            Rig.Saw(await rig.Submit("a", s_steps, id: $"x{i}"), i + 1);
        }

        var refused = await rig.Submit("a", s_steps, ["a"], id: "new");
        Rig.Rejected(refused, RejectionKind.Full);
        Assert.Contains("Too many request ids", refused.Rejection!.Detail, StringComparison.Ordinal);
        Assert.NotNull(refused.Rejection.RetryAfter);
        Rig.Saw(await rig.Submit("a", s_steps, id: "x0"), 1);
        Rig.Saw(await rig.Act("a", s_steps), 4); // without an id it takes no room

        time.Advance(TimeSpan.FromMinutes(12));
        await rig.Host.Worker.ForgetOldIds();
        Rig.Saw(await rig.Submit("a", s_steps, ["a"], id: "new"), 5);
    }

    [Fact]
    public async Task One_caller_has_its_share_of_the_ids_and_others_have_theirs()
    {
        var time = new SkewedTime();
        var options = new WorkerOptions { MaxRequestIds = 6, DrainTimeout = TimeSpan.FromSeconds(1) };
        await using var rig = await Rig.Start(options, time: time);
        for (var i = 0; i < 3; i++)
        {
            Rig.Seen(await Of("token:ann", $"a{i}"));
        }

        var refused = await Of("token:ann", "a3");
        Rig.Rejected(refused, RejectionKind.Full);
        Assert.Contains("3 of token:ann", refused.Rejection!.Detail, StringComparison.Ordinal);
        Rig.Seen(await Of("token:ann", "a0"));
        Rig.Seen(await Of("token:bob", "b0"));
        Rig.Seen(await Of(null, "c0"));

        time.Advance(TimeSpan.FromMinutes(12));
        await rig.Host.Worker.ForgetOldIds();
        Rig.Seen(await Of("token:ann", "a3"));

        Task<TransactionEnvelope> Of(string? caller, string id) => rig.Host.Door.Submit(
            new TransactionRequest
            {
                Actor = new ActorKey("Box", "a"),
                Method = "Run",
                Input = System.Text.Json.JsonSerializer.SerializeToUtf8Bytes(new Script(s_steps)),
                Mode = TransactionMode.Act,
                Id = id,
                CountedFor = caller,
            },
            CancellationToken.None);
    }

    [Fact]
    public void An_account_that_is_not_used_any_more_is_closed()
    {
        var index = Index();
        for (var minute = 0L; minute < 100; minute++)
        {
            Assert.Null(index.Refusal($"caller {minute}", minute * Minute, out var account));
            index.End(Key(minute), null, new KeptOutcome(0, minute), minute * Minute, account);
            index.Forget((minute - 10) * Minute);
            Assert.InRange(index.Accounts, 1, 25);
        }
    }

    private static IdempotencyIndex Index() => new(new WorkerOptions(), TicksOfASecond);

    private static UInt128 Key(long number) => RequestHash.OfId(number.ToString(CultureInfo.InvariantCulture));
}
