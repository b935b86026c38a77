using Snapper.AspNetCore.Api.Answers;
using Snapper.Protocol.Identity;
using Snapper.Runtime.Door;
using Snapper.Sidecar;

namespace Snapper.AspNetCore.Api.Paths;

/// <summary>What of an actor a path asks for.</summary>
internal enum ActorAspect
{
    State,
    Schedule,
    Timeline,
}

/// <summary>An actor as a path names it: <c>{type}/{id}</c>, percent-encoded; a slash inside an id is written <c>%2F</c>, and the ids <c>.</c> and <c>..</c> as <c>%252E</c> and <c>%252E%252E</c>.</summary>
internal static class ActorAddress
{
    /// <summary>What begins the path of all requests about one actor.</summary>
    public const string Prefix = "/v1/actors/";

    private const string ScheduleSuffix = "/schedule";
    private const string TimelineSuffix = "/timeline";

    /// <summary>Reads what follows <see cref="Prefix"/> where something is looked at: it may end with what that is. Whoever decides about the actor, and whoever shows it, read it here.</summary>
    public static bool TryReadView(string path, out ActorKey actor, out ActorAspect aspect, out Problem problem)
    {
        aspect = path.EndsWith(ScheduleSuffix, StringComparison.Ordinal) ? ActorAspect.Schedule
            : path.EndsWith(TimelineSuffix, StringComparison.Ordinal) ? ActorAspect.Timeline
            : ActorAspect.State;
        var length = aspect switch { ActorAspect.Schedule => ScheduleSuffix.Length, ActorAspect.Timeline => TimelineSuffix.Length, _ => 0 };
        return TryRead(path[..^length], out actor, out problem);
    }

    /// <summary>Reads what follows <see cref="Prefix"/>, or says what is wrong with it.</summary>
    public static bool TryRead(string path, out ActorKey actor, out Problem problem)
    {
        actor = default!;
        var slash = path.IndexOf('/', StringComparison.Ordinal);
        if (slash < 0)
        {
            problem = Problem.Invalid("The path is /v1/actors/{type}/{id}.");
        }
        else if (!ActorPath.TryDecode(path.AsSpan(0, slash), out var type) || !ActorPath.TryDecode(path.AsSpan(slash + 1), out var id))
        {
            problem = Problem.Invalid("The path is wrong: type and id must be percent-encoded UTF-8.");
        }
        else if ((NameRules.ActorTypeError(type) ?? NameRules.ActorIdError(id = ActorPath.WithDots(id))) is { } wrong)
        {
            problem = Problem.Invalid($"The path is wrong: {wrong}.");
        }
        else
        {
            actor = new ActorKey(type, id);
            problem = default;
        }

        return actor is not null;
    }
}
