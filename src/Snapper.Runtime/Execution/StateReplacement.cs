using System.Text.Json;
using Snapper.Actors;
using Snapper.Actors.Generated;
using Snapper.Runtime.Json;

namespace Snapper.Runtime.Execution;

/// <summary>Input of the two methods that every actor type has beside its own: a state that takes the place of the actor's, or none.</summary>
/// <param name="State">The state, of the type's own class; null: the actor is as if it was never written.</param>
/// <param name="OverDamage">Only what cannot be read is replaced; otherwise only what can.</param>
public readonly record struct StateReplacement(object? State, bool OverDamage);

/// <summary>
/// What an operator may do with an actor's state, as methods, so that it is a transaction like any other: ordered, logged, repeated under its id, moved with the actor. Their names are no
/// names of C#, and <see cref="Door.NameRules.MethodError"/> keeps them from callers: only <c>PUT</c> and <c>DELETE</c> of an actor's address start them.
/// </summary>
public sealed class StateReplacementMethod : RootMethod<StateReplacement, Nothing>
{
    private readonly ActorType? _type;
    private readonly StateCodec? _state;
    private readonly bool _overDamage;

    private StateReplacementMethod(string name, ActorType? type, bool overDamage, JsonSerializerOptions json)
        : base(new ActorMethod<StateReplacement, Nothing>(name, mayAbort: false, readOnly: false, static (actor, input) => ((StateHolder)actor).Replace(input)), json, json)
    {
        _type = type;
        _overDamage = overDamage;
        _state = type is null ? null : new StateCodec(type.Descriptor, json);
    }

    /// <summary>Puts a state in the place of the actor's. It is read as inputs are: a field that the state does not have is refused.</summary>
    /// <remarks>One of an older version becomes the newest.</remarks>
    public static StateReplacementMethod Import(ActorType type, bool overDamage, JsonSerializerOptions inputJson) =>
        new(overDamage ? Door.StateMethods.ImportOverDamage : Door.StateMethods.Import, type, overDamage, inputJson);

    /// <summary>Takes the actor's state away.</summary>
    public static StateReplacementMethod Delete(bool overDamage, JsonSerializerOptions inputJson) =>
        new(overDamage ? Door.StateMethods.DeleteDamaged : Door.StateMethods.Delete, null, overDamage, inputJson);

    public override object? ParseInput(ReadOnlySpan<byte> json)
    {
        if (_state is null)
        {
            return json.IsEmpty ? new StateReplacement(null, _overDamage) : throw new InputException($"{Name} takes no input");
        }

        if (json.IsEmpty)
        {
            throw new InputException("there is none; it is the state as JSON");
        }

        if (json.Trim(" \r\n\t"u8).SequenceEqual("null"u8))
        {
            throw new InputException($"a state of {_type!.Name} is not null; DELETE takes it away");
        }

        using var code = ValueCode.Enter();
        try
        {
            return new StateReplacement(_state.Decode(json), _overDamage);
        }
        catch (Exception failure) // the state's own code may throw anything
        {
            throw new InputException(_state.WhyUnread(json, failure));
        }
    }
}

/// <summary>Runs them in the place of the actor's own class.</summary>
public sealed class StateHolder : TransactionalActor<object>
{
    public async Task Replace(StateReplacement replacement)
    {
        var before = await Context.ReadStateForUpdate();
        if (replacement.OverDamage)
        {
            // Whoever put it right meanwhile, and what was written since, must not be lost to a request that was meant for the damage.
            if (before is not DamagedState damage) throw Abort("The state that the worker holds is not damaged: nothing was replaced. Where what is stored cannot be read all the same, the same request without damaged=replace writes it anew.");
            if (damage.Newer is not null) throw Abort($"{damage.Why} It is not damaged: nothing was replaced.");
            if (!damage.HasVersion) throw Abort($"{damage.Why} Its version cannot be read either, so that nobody knows which one comes next: a person must put the place right that is named.");
        }

        if (replacement.State is not null || before is not null)
        {
            Context.WriteState(replacement.State ?? AbsentState.Instance);
        }
    }

    protected override object InitialState() => throw new NotSupportedException("It has none of its own.");
}
