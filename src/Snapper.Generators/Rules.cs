using Microsoft.CodeAnalysis;

namespace Snapper.Generators;

/// <summary>Everything that the generator and its analyzer can say. SNAP0xx are errors, SNAP1xx warnings.</summary>
internal static class Rules
{
    public static readonly DiagnosticDescriptor TooManyParameters = Error(
        "SNAP001", "An actor method takes at most one input", "'{0}' has {1} parameters; an actor method takes none or one: put them into one record");

    public static readonly DiagnosticDescriptor UnsupportedParameter = Error(
        "SNAP002", "An actor method's input is passed by value", "Parameter '{1}' of '{0}' is by reference, 'params' or a type that lives on the stack; inputs are plain values that JSON can carry");

    public static readonly DiagnosticDescriptor GenericMethod = Error(
        "SNAP003", "An actor method is not generic", "'{0}' is generic; a call from another process cannot name its type arguments");

    public static readonly DiagnosticDescriptor NotAMethod = Error(
        "SNAP004", "An actor interface has only instance methods", "'{0}' is not an instance method; actor interfaces have no properties, events, indexers or static abstract members");

    public static readonly DiagnosticDescriptor WrongReturnType = Error(
        "SNAP005", "An actor method returns Task or Task<T>", "'{0}' returns '{1}'; an actor method returns Task or Task<T>");

    public static readonly DiagnosticDescriptor DuplicateMethod = Error(
        "SNAP006", "Method names of an actor interface are unique", "'{0}' has more than one method named '{1}'; callers name methods by their name alone");

    public static readonly DiagnosticDescriptor NoContract = Error(
        "SNAP007", "An actor class implements an actor interface",
        "'{0}' implements no interface that derives from {1}, "
        + "so nobody could call it");

    public static readonly DiagnosticDescriptor InvalidTypeName = Error(
        "SNAP008", "An actor type's name is 1 to 64 letters, digits, '_', '-' or '.', and begins with a letter", "'{1}' is no name for the actor type of '{0}': use 1 to 64 ASCII letters, digits, '_', '-' or '.', beginning with a letter");

    public static readonly DiagnosticDescriptor NotAnActorClass = Error(
        "SNAP009", "An actor class derives from TransactionalActor<TState>", "'{0}' carries [TransactionalActor] but does not derive from TransactionalActor<TState>");

    public static readonly DiagnosticDescriptor UnsupportedClass = Error(
        "SNAP010", "An actor class is a plain class of its namespace", "'{0}' is {1}; an actor class is neither nested, abstract, generic nor file-local");

    public static readonly DiagnosticDescriptor AmbiguousMethod = Error(
        "SNAP011", "Method names of an actor class are unique", "'{0}' implements methods named '{1}' of '{2}' and '{3}'; callers name methods by their name alone");

    public static readonly DiagnosticDescriptor UnsupportedInterface = Error(
        "SNAP012", "An actor interface is neither generic nor hidden", "'{0}' is {1}; an actor interface is public or internal and not generic");

    public static readonly DiagnosticDescriptor UnsupportedConstructor = Error(
        "SNAP013", "An actor class has one constructor", "'{0}' {1}; an actor class has exactly one public or internal constructor, whose parameters are services passed by value");

    public static readonly DiagnosticDescriptor DuplicateActorType = Error(
        "SNAP014", "Actor types have different names", "'{0}' and '{1}' both name the actor type '{2}'");

    public static readonly DiagnosticDescriptor NegativeTurnBound = Error(
        "SNAP015", "A turn bound is not negative", "TurnBoundMs of '{0}' is {1}; use a number of milliseconds, or 0 for the worker's setting");

    public static readonly DiagnosticDescriptor InvalidSeparator = Error(
        "SNAP016", "A partition key ends at a printable ASCII character that is no letter and no digit", "The partition key of '{0}' cannot end at {1}; use a printable ASCII character that is neither a letter, a digit nor a blank, for example '/'");

    public static readonly DiagnosticDescriptor DeclaresShape = Error(
        "SNAP017", "A [Declares] function is static and takes a declaration, the actor's id and the method's input",
        "'{0}' {1}; a [Declares] function is static, public or internal, not generic, returns void and takes {2}");

    public static readonly DiagnosticDescriptor DeclaresUnknown = Error(
        "SNAP018", "A [Declares] function belongs to an actor method",
        "'{0}' declares for '{1}', which is no actor method of '{2}'");

    public static readonly DiagnosticDescriptor DeclaresTwice = Error(
        "SNAP019", "An actor method has one [Declares] function",
        "'{0}' has more than one [Declares] function for '{1}'");

    public static readonly DiagnosticDescriptor ReservedMethod = Error(
        "SNAP028", "StartTransaction is no name of an actor method",
        "'{0}' has the name of the door by which requests come to an actor, and could not be called there: rename it");

    public static readonly DiagnosticDescriptor Remindable = Error(
        "SNAP027", "A transactional actor has no reminders",
        "'{0}' implements IRemindable: transactional actors have neither reminders nor timers; let a plain Dapr actor, "
        + "a job or a cron binding call a method when the time has come");

    // Known only when all methods have been seen.
    public static readonly DiagnosticDescriptor MarkedCallee = WarningAtEnd(
        "SNAP101", "A marked method called by an unmarked one counts as unmarked", "'{0}' calls '{1}', which is marked [MayAbort], but is not marked itself: as the root of a transaction it runs as if nothing could abort; mark it too, or expect an abort to cost others a second run");

    public static readonly DiagnosticDescriptor MissingAttribute = Warning(
        "SNAP102", "An actor class names its actor type", "'{0}' derives from TransactionalActor<TState> and implements an actor interface, but has no [TransactionalActor(\"...\")]: no worker will host it");

    public static readonly DiagnosticDescriptor ReadOnlyWrites = Warning(
        "SNAP103", "A read-only method does not change its state",
        "'{0}' carries [ReadOnlyMethod] and calls State.{1}: the worker aborts such a call; take the attribute away, or read with State.Get");

    public static readonly DiagnosticDescriptor CallUndeclared = WarningAtEnd(
        "SNAP104", "What a method calls is in its declaration",
        "'{0}' calls an actor by '{1}', and '{2}' declares none: as a PACT the method aborts with reason "
        + "undeclared; add the actor to the declaration");

    public static readonly DiagnosticDescriptor DeclaresElsewhere = Warning(
        "SNAP105", "A [Declares] function stands in an actor class",
        "'{0}' carries [Declares], but '{1}' is no class with [TransactionalActor]: no request is declared by it");

    public static readonly DiagnosticDescriptor StateVersionNumber = Error(
        "SNAP020", "A state's version is a number from 1 on",
        "The state of '{0}' has [StateVersion({1})]{2}; a version is 1 to 1,000,000, the oldest is none above it, "
            + "and class and state have the same");

    public static readonly DiagnosticDescriptor UpcastShape = Error(
        "SNAP021", "The shape of a function with [Upcasts]",
        "'{0}' {1}; a function with [Upcasts] is static, public or internal, not generic, takes the older state "
            + "and returns the next one");

    public static readonly DiagnosticDescriptor UpcastMissing = Error(
        "SNAP022", "There is a step from each version of a state to the next",
        "The state of '{0}' has version {1}, and states of version {2} become none of version {3}: add a static "
            + "function with [Upcasts({2})] to '{4}', or leave older ones unread by Oldest = {3}");

    public static readonly DiagnosticDescriptor UpcastTwice = Error(
        "SNAP023", "There is one step from each version of a state",
        "'{0}' is a second function for states of '{1}' of version {2}");

    public static readonly DiagnosticDescriptor UpcastChain = Error(
        "SNAP024", "A step makes what the next one takes",
        "'{0}' makes '{1}' of version {2}, and what comes next takes '{3}'; use one type, or JsonObject on one side");

    public static readonly DiagnosticDescriptor VersionedShape = Error(
        "SNAP025", "A state with a version is an object in JSON",
        "The state of '{0}' has a version and is a '{1}', which JSON has as no object with named properties; put it "
            + "into a record");

    public static readonly DiagnosticDescriptor UpcastUnused = Error(
        "SNAP026", "A step begins at a version that is read",
        "'{0}' takes states of version {1}, and those of '{2}' that become newer have the versions {3} to {4}: "
            + "change its number, or delete it");

    public static readonly DiagnosticDescriptor UpcastElsewhere = Warning(
        "SNAP106", "A function with [Upcasts] stands in a state with [StateVersion] or in its actor class",
        "'{0}' carries [Upcasts], but '{1}' is neither a class with [StateVersion] nor an actor class whose state has "
            + "one: no state is read by it");

    public static readonly DiagnosticDescriptor LeavesTransaction = Warning(
        "SNAP107", "A call by Dapr's own proxy leaves the transaction",
        "'{0}' calls by {1} of Dapr's SDK: that goes through the sidecar, outside of this transaction, and waits for "
        + "its actors; use ProxyFactory or ActorProxy of the base class, or Actor<T>(id)");

    public static readonly DiagnosticDescriptor NeverDeactivated = Warning(
        "SNAP108", "A transactional actor is not deactivated",
        "'{0}' overrides OnDeactivateAsync, which is never called: an actor object lives for one call of one method");

    public static readonly DiagnosticDescriptor Clock = Body(
        "SNAP201", "A method of an actor reads no clock of its own",
        "'{0}' uses '{1}'{2}: each attempt would see another time; use Context.UtcNow, the same on all its "
            + "actors (as a DateTime: Context.UtcNow.UtcDateTime)");

    public static readonly DiagnosticDescriptor Randomness = Body(
        "SNAP202", "A method of an actor has no randomness of its own",
        "'{0}' uses '{1}'{2}; use Context.NewGuid() for ids, and take other random values as input");

    public static readonly DiagnosticDescriptor Threads = Body(
        "SNAP203", "A method of an actor stays on the actor's thread",
        "'{0}' uses '{1}'{2}: a context that is used from another thread throws, and what outlives the method sees no "
            + "transaction; await the calls themselves, with Task.WhenAll where they may run together");

    public static readonly DiagnosticDescriptor Continuation = Body(
        "SNAP204", "A method of an actor comes back to the actor's thread",
        "'{0}' uses '{1}'{2}: what follows runs on another thread, where a context throws; leave it out");

    public static readonly DiagnosticDescriptor Outside = Body(
        "SNAP205", "A method of an actor has no effects outside",
        "'{0}' uses '{1}'{2}: a method may run more than once, and what it does outside is not undone; commit first, "
            + "then act on the answer");

    public static readonly DiagnosticDescriptor Waiting = Body(
        "SNAP206", "A method of an actor waits by its context",
        "'{0}' uses '{1}'{2}; use await Context.Delay(...), which goes by the worker's clock, and await what is not "
            + "done yet");

    public static readonly DiagnosticDescriptor StaticWritten = Body(
        "SNAP207", "A method of an actor changes nothing that is static",
        "'{0}' changes the static '{1}'{2}: an attempt that is undone or repeated leaves it changed, and other workers "
            + "do not see it; keep it in State");

    public static readonly DiagnosticDescriptor FieldWritten = Body(
        "SNAP208", "A method of an actor changes no field of the actor",
        "'{0}' changes '{1}'{2}: an actor object belongs to one call of one attempt, so that its fields are no state; "
            + "use State.Set, or a local variable");

    public static readonly DiagnosticDescriptor AbortSwallowed = Body(
        "SNAP209", "A method of an actor lets aborts pass",
        "'{0}' catches '{1}'{2} around calls of the transaction and does not throw: the transaction is doomed all the "
            + "same; let it pass, or return expected failures as values");

    public static readonly DiagnosticDescriptor ReadOnlyReaches = WarningAtEnd(
        "SNAP210", "A read-only method reaches no change",
        "'{0}' carries [ReadOnlyMethod] and {1}: the call aborts; take the mark away, or mark what it calls");

    public static readonly DiagnosticDescriptor ContractBroken = ErrorAtEnd(
        "SNAP301", "What callers rely on stays as the baseline has it",
        "'{0}' breaks what snapper.contracts.txt has: {1}; leave it and add something new beside it, or accept it with "
            + "'dotnet build -p:SnapperAcceptContracts=true'");

    public static readonly DiagnosticDescriptor ContractNew = ErrorAtEnd(
        "SNAP302", "What callers may rely on is in the baseline",
        "'{0}' differs from snapper.contracts.txt, and callers and states of before get on with it: {1}; accept it "
            + "with 'dotnet build -p:SnapperAcceptContracts=true'");

    public static readonly DiagnosticDescriptor StateFormBroken = ErrorAtEnd(
        "SNAP303", "A state of another form has another version",
        "What is stored of '{0}' is not read as before: {1}; raise its [StateVersion] and write the step with "
            + "[Upcasts]. Where no such state is stored: 'dotnet build -p:SnapperAcceptContracts=states'");

    public static readonly DiagnosticDescriptor BaselineUnreadable = ErrorAtEnd(
        "SNAP304", "The baseline is readable",
        "Line {0} of snapper.contracts.txt has no meaning: '{1}'; take the file as it was, or write it anew with "
            + "'dotnet build -p:SnapperAcceptContracts=true'");

    /// <summary>The same rule for what is found only when all of a project has been read.</summary>
    public static DiagnosticDescriptor AtEnd(DiagnosticDescriptor rule) => s_bodiesAtEnd[rule.Id];

    public static DiagnosticDescriptor ById(string id) => id switch
    {
        "SNAP001" => TooManyParameters,
        "SNAP002" => UnsupportedParameter,
        "SNAP003" => GenericMethod,
        "SNAP004" => NotAMethod,
        "SNAP005" => WrongReturnType,
        "SNAP006" => DuplicateMethod,
        "SNAP007" => NoContract,
        "SNAP028" => ReservedMethod,
        "SNAP008" => InvalidTypeName,
        "SNAP009" => NotAnActorClass,
        "SNAP010" => UnsupportedClass,
        "SNAP011" => AmbiguousMethod,
        "SNAP012" => UnsupportedInterface,
        "SNAP013" => UnsupportedConstructor,
        "SNAP014" => DuplicateActorType,
        "SNAP015" => NegativeTurnBound,
        "SNAP016" => InvalidSeparator,
        "SNAP017" => DeclaresShape,
        "SNAP018" => DeclaresUnknown,
        "SNAP019" => DeclaresTwice,
        "SNAP020" => StateVersionNumber,
        "SNAP021" => UpcastShape,
        "SNAP022" => UpcastMissing,
        "SNAP023" => UpcastTwice,
        "SNAP024" => UpcastChain,
        "SNAP025" => VersionedShape,
        "SNAP026" => UpcastUnused,
        "SNAP027" => Remindable,
        _ => throw new ArgumentOutOfRangeException(nameof(id), id, "Not a rule of the generator."),
    };

    private static readonly Dictionary<string, DiagnosticDescriptor> s_bodiesAtEnd =
        new[] { Clock, Randomness, Threads, Continuation, Outside, Waiting, StaticWritten, AbortSwallowed }
            .ToDictionary(
                static rule => rule.Id,
                static rule => WarningAtEnd(rule.Id, rule.Title.ToString(), rule.MessageFormat.ToString()));

    private static DiagnosticDescriptor Body(string id, string title, string message) =>
        new(id, title, message, "Snapper", DiagnosticSeverity.Warning, isEnabledByDefault: true);

    private static DiagnosticDescriptor Error(string id, string title, string message) =>
        new(id, title, message, "Snapper", DiagnosticSeverity.Error, isEnabledByDefault: true);

    private static DiagnosticDescriptor ErrorAtEnd(string id, string title, string message) =>
        new(id, title, message, "Snapper", DiagnosticSeverity.Error, isEnabledByDefault: true,
            customTags: WellKnownDiagnosticTags.CompilationEnd);

    private static DiagnosticDescriptor WarningAtEnd(string id, string title, string message) =>
        new(id, title, message, "Snapper", DiagnosticSeverity.Warning, isEnabledByDefault: true, customTags: WellKnownDiagnosticTags.CompilationEnd);

    private static DiagnosticDescriptor Warning(string id, string title, string message) =>
        new(id, title, message, "Snapper", DiagnosticSeverity.Warning, isEnabledByDefault: true);
}
